// Find a node by its id: type, choose from the list with arrows or a click, and the map goes there.

const OFFERED = 8;
const LONGEST_ID = 200; // ids are cut to this in the page (ncgc.report.formatting)

function search(map, packed) {
  const input = byId("search");
  const list = byId("offers");
  const announcement = byId("announcement");
  const { points } = map;
  const folded = Array.from({ length: points.count }, (_, i) => points.id(i).toLowerCase());
  let offers = [];
  let active = -1;

  // Equal ids first, then those that begin with the query, then those that contain it.
  function matches(text) {
    let sought = text.toLowerCase();
    if (text.length > LONGEST_ID) sought = sought.slice(0, LONGEST_ID - 1);
    const ranks = [[], [], []];
    for (let i = 0; i < folded.length && ranks[0].length + ranks[1].length < OFFERED; i++) {
      const at = folded[i].indexOf(sought);
      if (at < 0) continue;
      const rank = folded[i] === sought ? 0 : at === 0 ? 1 : 2;
      if (ranks[rank].length < OFFERED) ranks[rank].push(i);
    }
    const equal = folded.indexOf(sought); // it may come after many that begin with it
    return [...new Set([...(equal >= 0 ? [equal] : []), ...ranks.flat()])].slice(0, OFFERED);
  }

  function close() {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
    active = -1;
  }

  function choose(node) {
    input.value = points.id(node);
    close();
    map.reveal(node);
    const label = points.label[node] === points.none ? "no label" : map.report.classes[points.label[node]];
    announcement.textContent = `${named(points.id(node))}: ${label}, shown on the map`;
  }

  function offer() {
    const text = input.value.trim();
    if (text === "") return close();
    offers = matches(text);
    list.replaceChildren(
      ...offers.map((node, place) => {
        const item = element("li", { role: "option", id: `offer-${place}`, "aria-selected": "false", dir: "auto" });
        item.append(named(points.id(node)));
        item.addEventListener("mousedown", (event) => event.preventDefault()); // the input keeps the focus
        item.addEventListener("click", () => choose(node));
        return item;
      }),
    );
    if (offers.length === 0) {
      const among = packed.shown < packed.total ? ` among the ${grouped(packed.shown)} nodes shown` : "";
      list.append(element("li", { class: "none", role: "option", "aria-disabled": "true" }, `No such id${among}`));
    }
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    mark(-1);
  }

  function mark(place) {
    active = place;
    [...list.children].forEach((item, p) => item.setAttribute("aria-selected", p === place));
    if (place >= 0) input.setAttribute("aria-activedescendant", `offer-${place}`);
    else input.removeAttribute("aria-activedescendant");
  }

  input.addEventListener("input", offer);
  input.addEventListener("focus", offer);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && offers.length > 0) {
      if (list.hidden) offer();
      mark((active + step + offers.length) % offers.length);
    } else if (event.key === "Enter" && !list.hidden && offers.length > 0) choose(offers[Math.max(active, 0)]);
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
  });
}
