// A pad to draw a signature on. Strokes are kept as lists of [x, y], both divided by the pad's width, from the top
// left, so that a turned phone or another screen changes nothing about them.
"use strict";

const MOST_POINTS = 10000; // of two drawings, these fit into the 512 KiB that a body may have
const NEAREST = 0.002; // points closer to the last one than this add nothing
const LEAST_INK = 0.01; // of the pad's width: a tap is no line

class Pad {
  constructor(canvas, changed) {
    this.canvas = canvas;
    this.changed = changed;
    this.strokes = [];
    this.drawing = null;
    canvas.addEventListener("pointerdown", (event) => this.begin(event));
    canvas.addEventListener("pointermove", (event) => this.go(event));
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => this.end());
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  get points() {
    return this.strokes.reduce((sum, stroke) => sum + stroke.length, 0);
  }

  get empty() {
    return this.strokes.length === 0;
  }

  // Whether there is a line to be seen, by the measure of the service: dots alone are none.
  get inked() {
    const span = (values) => Math.max(...values) - Math.min(...values);
    return this.strokes.some((stroke) => [0, 1].some((axis) => span(stroke.map((point) => point[axis])) >= LEAST_INK));
  }

  set(strokes) {
    this.strokes = strokes;
    this.draw();
    this.changed();
  }

  clear() {
    this.set([]);
  }

  undo() {
    this.set(this.strokes.slice(0, -1));
  }

  begin(event) {
    if (event.button !== 0 || this.drawing !== null || this.points >= MOST_POINTS) return;
    event.preventDefault();
    this.canvas.setPointerCapture(event.pointerId);
    this.drawing = event.pointerId;
    this.strokes.push([]);
    this.add(event);
    this.draw();
  }

  go(event) {
    if (event.pointerId !== this.drawing) return;
    const between = event.getCoalescedEvents ? event.getCoalescedEvents() : [];
    for (const moved of between.length ? between : [event]) this.add(moved);
    this.draw();
  }

  end() {
    if (this.drawing === null) return;
    this.drawing = null;
    this.changed();
  }

  add(event) {
    const box = this.canvas.getBoundingClientRect();
    const within = (value) => Math.round(Math.min(1, Math.max(0, value)) * 10000) / 10000;
    const point = [within((event.clientX - box.left) / box.width), within((event.clientY - box.top) / box.width)];
    const stroke = this.strokes[this.strokes.length - 1];
    const last = stroke[stroke.length - 1];
    if (last && Math.hypot(point[0] - last[0], point[1] - last[1]) < NEAREST) return;
    if (this.points >= MOST_POINTS) return;
    stroke.push(point);
  }

  // Curves through the middles of the points: as smooth as the ink that is sealed.
  draw() {
    const { canvas } = this;
    const ratio = window.devicePixelRatio || 1;
    const width = Math.round(canvas.clientWidth * ratio);
    const height = Math.round(canvas.clientHeight * ratio);
    if (!width) return;
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    const pen = canvas.getContext("2d");
    pen.clearRect(0, 0, width, height);
    pen.lineWidth = Math.max(2 * ratio, width * 0.007);
    pen.lineCap = pen.lineJoin = "round";
    pen.strokeStyle = getComputedStyle(canvas).color;
    const scale = Math.min(1, height / width / Math.max(0.01, ...this.strokes.flat().map((point) => point[1])));
    for (const stroke of this.strokes) {
      const at = stroke.map(([x, y]) => [x * width * scale, y * width * scale]);
      pen.beginPath();
      pen.moveTo(...at[0]);
      for (let i = 1; i < at.length - 1; i += 1) {
        pen.quadraticCurveTo(...at[i], (at[i][0] + at[i + 1][0]) / 2, (at[i][1] + at[i + 1][1]) / 2);
      }
      pen.lineTo(...at[at.length - 1]);
      pen.stroke();
    }
  }
}
