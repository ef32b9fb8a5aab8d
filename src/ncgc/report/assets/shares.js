// The share of each class among the given and among the predicted labels, as pairs of bars.

function classShares(container, shares, report) {
  const part = (count, total) => (total ? count / total : 0);
  const most = Math.max(
    ...shares.classes.map((_, i) => Math.max(part(shares.given[i], shares.givenTotal), part(shares.found[i], shares.foundTotal))),
    1e-9,
  );
  const bar = (kind, count, total) => {
    const fill = element("i", { class: `share-bar ${kind}` });
    fill.style.width = `${(100 * part(count, total)) / most}%`;
    const words = `${grouped(count)} ${kind}`;
    return [
      element("span", { class: "share-track", title: words }, fill),
      element("span", { class: "share-number" }, total ? percent(part(count, total), 1) : "–"),
      element("span", { class: "share-count" }, grouped(count)),
    ];
  };
  shares.classes.forEach((number, i) => {
    const name = named(report.classes[number]);
    const row = element("li", { class: "share" }, element("span", { class: "share-name", dir: "auto", title: name }, name));
    const bars = element("span", { class: "share-bars" });
    bars.append(...bar("given", shares.given[i], shares.givenTotal), ...bar("predicted", shares.found[i], shares.foundTotal));
    for (const fill of bars.querySelectorAll(".share-bar")) fill.style.background = classColour(number);
    row.append(bars);
    container.append(row);
  });
}
