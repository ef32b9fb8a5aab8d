// Colours of the classes and of confidence. Those of the classes are custom properties, so that a change of theme
// reaches every bar and swatch by itself; the map reads their values.

const palette = () => REPORT.colours[document.documentElement.dataset.theme];
const classColour = (number) => (number < REPORT.classes.length ? `var(--class-${number})` : "var(--unlabelled)");

function applyPalette() {
  palette().forEach((colour, number) => document.documentElement.style.setProperty(`--class-${number}`, colour));
}
applyPalette();
document.addEventListener("themechange", applyPalette);

// 1/K, the smallest value of the largest of K probabilities: where the scale of confidence begins.
const leastConfidence = () => (REPORT.classes.length > 1 ? 1 / REPORT.classes.length : 0);

const RAMP = [
  [230, 110, 20],
  [196, 168, 150],
  [38, 98, 205],
];

// From doubtful (orange) to sure (blue): both ends are distinct with any kind of colour vision.
function rampColour(part) {
  const at = clamp(part, 0, 1) * (RAMP.length - 1);
  const low = Math.min(Math.floor(at), RAMP.length - 2);
  const mix = RAMP[low].map((value, c) => Math.round(value + (RAMP[low + 1][c] - value) * (at - low)));
  return mix;
}

// "#3778d7" as [55, 120, 215].
const channels = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
