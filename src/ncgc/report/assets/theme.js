// Light or dark: the choice on this page, else the setting of the system. Runs before anything is painted.

const KEY = "ncgc-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

function chosenTheme() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null; // a page opened from a file may have no storage
  }
}

function applyTheme(theme) {
  document.documentElement.dataset.theme = theme;
  document.dispatchEvent(new Event("themechange"));
}

function systemTheme() {
  return system.matches ? "dark" : "light";
}

applyTheme(chosenTheme() ?? systemTheme());
system.addEventListener("change", () => chosenTheme() ?? applyTheme(systemTheme()));

// Paper is white: print in light colours and go back.
let before = null;
addEventListener("beforeprint", () => {
  before ??= document.documentElement.dataset.theme;
  for (const folded of document.querySelectorAll("details")) folded.open = true;
  applyTheme("light");
});
addEventListener("afterprint", () => {
  if (before) applyTheme(before);
  before = null;
});

document.addEventListener("DOMContentLoaded", () => {
  const button = document.getElementById("theme");
  const describe = () => {
    const other = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    button.setAttribute("aria-label", `Change to ${other} colours`);
    button.title = `Change to ${other} colours`;
  };
  describe();
  document.addEventListener("themechange", describe);
  button.addEventListener("click", () => {
    const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // the choice then lasts as long as the page is open
    }
    applyTheme(theme);
  });
});
