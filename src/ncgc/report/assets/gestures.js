// Wheel, drag, pinch and keys on the map. The page still scrolls: the wheel zooms only when the page is at rest,
// and one finger moves the map only when it is zoomed in.

const RESTED = 250; // milliseconds after which a page that was scrolled counts as resting

function attachGestures(canvas, view, { changed, hover, leave, tap }) {
  const fingers = new Map();
  let scrolled = -Infinity;
  let moved = 0;
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const update = () => {
    canvas.style.touchAction = view.zoom > 1 ? "none" : "pan-y";
    changed();
  };

  addEventListener("scroll", () => (scrolled = performance.now()), { passive: true });
  canvas.addEventListener(
    "wheel",
    (event) => {
      const outward = event.deltaY > 0 && view.zoom === 1;
      if (!event.ctrlKey && (outward || performance.now() - scrolled < RESTED)) return;
      event.preventDefault();
      const lines = event.deltaMode === 1 ? 16 : 1;
      const { x, y } = place(event);
      view.zoomAt(x, y, Math.exp(-clamp(event.deltaY * lines, -120, 120) * (event.ctrlKey ? 0.01 : 0.0025)));
      update();
    },
    { passive: false },
  );

  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, place(event));
    moved = fingers.size > 1 ? Infinity : 0;
  });
  canvas.addEventListener("pointermove", (event) => {
    const now = place(event);
    const last = fingers.get(event.pointerId);
    if (!last) return event.pointerType === "touch" ? undefined : hover(now);
    const [other] = [...fingers].filter(([id]) => id !== event.pointerId).map(([, finger]) => finger);
    if (other) {
      const before = Math.hypot(last.x - other.x, last.y - other.y);
      const after = Math.hypot(now.x - other.x, now.y - other.y);
      view.pan((now.x - last.x) / 2, (now.y - last.y) / 2);
      view.zoomAt((now.x + other.x) / 2, (now.y + other.y) / 2, after / Math.max(before, 1));
    } else {
      view.pan(now.x - last.x, now.y - last.y);
    }
    moved += Math.abs(now.x - last.x) + Math.abs(now.y - last.y);
    fingers.set(event.pointerId, now);
    if (moved > 4) canvas.classList.add("dragging");
    update();
  });
  canvas.addEventListener("pointerup", (event) => {
    if (fingers.delete(event.pointerId) && moved <= 4) tap(place(event));
    canvas.classList.remove("dragging");
  });
  canvas.addEventListener("pointercancel", (event) => {
    fingers.delete(event.pointerId);
    canvas.classList.remove("dragging");
  });
  canvas.addEventListener("pointerleave", leave);

  const steps = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
  canvas.addEventListener("keydown", (event) => {
    const middle = [view.width / 2, view.height / 2];
    if (steps[event.key]) view.pan(...steps[event.key]);
    else if (event.key === "+" || event.key === "=") view.zoomAt(...middle, 1.5);
    else if (event.key === "-") view.zoomAt(...middle, 1 / 1.5);
    else if (event.key === "0") view.zoomAt(...middle, 0);
    else return;
    event.preventDefault();
    update();
  });
  update();
}
