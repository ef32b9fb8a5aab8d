// The legend beside the map: colour and number of nodes of each class; a click hides or shows it.

function legend(map, report) {
  const list = byId("classes");
  const rows = report.classes.map((name, number) => ({ number, name: named(name), count: report.counts[number] }));
  if (rows.length > 30) rows.sort((a, b) => b.count - a.count); // few classes keep their order, many are sorted by size
  if (report.unlabelled > 0) rows.push({ number: map.points.none, name: "no label", count: report.unlabelled });
  const buttons = rows.map(({ number, name, count }) => {
    const swatch = element("i", { class: "swatch" });
    swatch.style.background = classColour(number);
    const button = element(
      "button",
      { type: "button", "data-class": number, title: name },
      swatch,
      element("span", { class: "name", dir: "auto" }, name),
      element("span", { class: "count" }, grouped(count)),
    );
    button.addEventListener("click", () => {
      if (!map.hidden.delete(number)) map.hidden.add(number);
      update();
    });
    list.append(element("li", {}, button));
    return button;
  });

  function update() {
    for (const button of buttons) button.setAttribute("aria-pressed", !map.hidden.has(Number(button.dataset.class)));
    byId("show-all").disabled = map.hidden.size === 0;
    byId("hide-all").disabled = map.hidden.size === rows.length;
    map.hovered = -1;
    map.changed();
  }

  byId("show-all").addEventListener("click", () => {
    map.hidden.clear();
    update();
  });
  byId("hide-all").addEventListener("click", () => {
    for (const { number } of rows) map.hidden.add(number);
    update();
  });
  document.addEventListener("revealed", update);
  update();
}

// The key on the map: what the colours mean in each mode.
function key(map, report) {
  const box = byId("key");
  const dot = (colour, outline, text) => {
    const swatch = element("i", { class: outline ? "swatch outlined" : "swatch" });
    swatch.style.background = `var(${colour})`;
    return element("span", {}, swatch, text);
  };
  function update() {
    const parts = [];
    if (map.mode === "confidence") {
      const stops = [0, 0.25, 0.5, 0.75, 1].map((part) => `rgb(${rampColour(part).join(" ")})`);
      const ramp = element("i", { class: "ramp" });
      ramp.style.background = `linear-gradient(90deg, ${stops.join(",")})`;
      parts.push(leastConfidence().toFixed(2), ramp, "1.00");
    } else if (map.mode === "source") {
      parts.push(dot("--given", true, "given"), dot("--predicted", false, "predicted"));
      if (report.unlabelled > 0) parts.push(dot("--unlabelled", false, "no label"));
    } else {
      const ringed = element("i", { class: "swatch outlined hollow" });
      parts.push(element("span", {}, ringed, "label given"));
    }
    box.replaceChildren(...parts);
    list.dataset.mode = map.mode; // swatches fade where colours are not those of classes
  }
  const list = byId("classes");
  for (const button of document.querySelectorAll("[data-mode]")) {
    if (button.tagName !== "BUTTON") continue;
    button.addEventListener("click", () => {
      map.setMode(button.dataset.mode);
      for (const other of button.parentElement.children) other.setAttribute("aria-pressed", other === button);
      update();
    });
  }
  update();
}
