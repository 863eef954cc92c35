// A pad to draw a signature on. Strokes are kept as lists of [x, y], both divided by the pad's width, from the top
// left, so that a turned phone or another screen changes nothing about them.
"use strict";

const MOST_POINTS = 10000; // of two drawings, these fit into the 512 KiB that a body may have
const NEAREST = 0.002; // points closer to the last one than this add nothing

class Pad {
  constructor(canvas) {
    this.canvas = canvas;
    this.strokes = [];
    this.points = 0;
    this.drawing = null;
    canvas.addEventListener("pointerdown", (event) => this.begin(event));
    canvas.addEventListener("pointermove", (event) => this.go(event));
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => (this.drawing = null));
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  get empty() {
    return this.points === 0;
  }

  clear() {
    this.strokes = [];
    this.points = 0;
    this.draw();
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

  add(event) {
    const box = this.canvas.getBoundingClientRect();
    const within = (value) => Math.round(Math.min(1, Math.max(0, value)) * 10000) / 10000;
    const point = [within((event.clientX - box.left) / box.width), within((event.clientY - box.top) / box.width)];
    const stroke = this.strokes[this.strokes.length - 1];
    const last = stroke[stroke.length - 1];
    if (last && Math.hypot(point[0] - last[0], point[1] - last[1]) < NEAREST) return;
    if (this.points >= MOST_POINTS) return;
    stroke.push(point);
    this.points += 1;
  }

  draw() {
    const { canvas } = this;
    const ratio = window.devicePixelRatio || 1;
    const width = Math.round(canvas.clientWidth * ratio);
    const height = Math.round(canvas.clientHeight * ratio);
    if (!width) return;
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    const pen = canvas.getContext("2d");
    pen.clearRect(0, 0, width, height);
    pen.lineWidth = width * 0.007;
    pen.lineCap = pen.lineJoin = "round";
    pen.strokeStyle = getComputedStyle(canvas).color;
    for (const stroke of this.strokes) {
      pen.beginPath();
      pen.moveTo(stroke[0][0] * width, stroke[0][1] * width);
      for (const [x, y] of stroke) pen.lineTo(x * width, y * width);
      pen.stroke();
    }
  }
}
