// Elements and numbers. Data enters the page as text nodes and attributes only, never as markup.

const SVG = "http://www.w3.org/2000/svg";
const byId = (id) => document.getElementById(id);
const REPORT = JSON.parse(byId("data").textContent);

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children); // a string becomes a text node
  return node;
}

function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

function drawing(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

const GROUPED = new Intl.NumberFormat("en");
const grouped = (value) => GROUPED.format(value);
const percent = (value, digits = 0) => `${(100 * value).toFixed(digits)} %`;

// Three significant figures, without a tail of noughts.
function short(value) {
  if (Math.abs(value) >= 1000) return grouped(Math.round(value));
  return String(Number(value.toPrecision(3)));
}

// A name that may be empty or only blanks still needs something to point at.
const named = (name) => (String(name).trim() === "" ? "(empty)" : String(name));

const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
const calm = matchMedia("(prefers-reduced-motion: reduce)");

// A colour of the style sheet, as it is in the present theme.
const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Draw now and whenever the width changes.
function responsive(container, draw) {
  let last = 0;
  new ResizeObserver(() => {
    const width = Math.floor(container.clientWidth);
    if (width === last || width === 0) return;
    last = width;
    draw(width);
  }).observe(container);
}
