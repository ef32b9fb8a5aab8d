// Start the script of each section on the page; sections without data are not on it.

function withSection(id, value, start) {
  const place = byId(id);
  if (place && value !== null) start(place, value);
}

withSection("map", REPORT.map, (_, packed) => {
  const map = new PointMap(readPoints(packed), REPORT);
  legend(map, REPORT);
  key(map, REPORT);
  search(map, packed);
  const middle = () => [map.view.width / 2, map.view.height / 2];
  const zooms = { "zoom-in": 1.6, "zoom-out": 1 / 1.6, "zoom-home": 0 };
  for (const [id, factor] of Object.entries(zooms)) {
    byId(id).addEventListener("click", () => {
      map.view.zoomAt(...middle(), factor);
      map.dots.style.touchAction = map.view.zoom > 1 ? "none" : "pan-y";
      map.changed();
    });
  }
  for (const button of document.querySelectorAll("button[data-node]")) {
    button.addEventListener("click", () => map.reveal(Number(button.dataset.node)));
  }
  window.ncgcMap = map; // for tests and for debugging
});
withSection("shares", REPORT.shares, (place, shares) => classShares(place, shares, REPORT));
withSection("curves", REPORT.curves, trainingCurves);
withSection("histogram", REPORT.histogram, confidenceHistogram);
withSection("reliability", REPORT.reliability, reliabilityDiagram);
withSection("confusion", REPORT.classes, shadeConfusion);
withSection("copy", REPORT.classes, (button) => {
  button.addEventListener("click", async () => {
    const code = byId("command");
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code); // a page opened from a file may not copy; the text is selected instead
    }
  });
});
