// Rectangles of stamps in points of the page as a reader sees it, origin at the bottom left: kept within the page and
// within the sizes that a stamp may have.
"use strict";

class Rectangles {
  constructor(widths, heights) {
    [this.narrowest, this.widest] = widths;
    [this.lowest, this.highest] = heights;
  }

  // The rectangle in a size that is allowed, moved onto the page.
  fitted({ x, y, width, height }, page) {
    const w = within(this.narrowest, Math.min(this.widest, page.width), width);
    const h = within(this.lowest, Math.min(this.highest, page.height), height);
    return { x: within(0, cut(page.width - w), x), y: within(0, cut(page.height - h), y), width: w, height: h };
  }

  // The rectangle with a corner ("nw", "ne", "sw" or "se") at the point; the opposite corner stays.
  resized({ x, y, width, height }, corner, to, page) {
    let [left, right, bottom, top] = [x, x + width, y, y + height];
    if (corner.includes("e")) right = within(left + this.narrowest, Math.min(left + this.widest, page.width), to.x);
    else left = within(Math.max(right - this.widest, 0), right - this.narrowest, to.x);
    if (corner.includes("n")) top = within(bottom + this.lowest, Math.min(bottom + this.highest, page.height), to.y);
    else bottom = within(Math.max(top - this.highest, 0), top - this.lowest, to.y);
    return { x: cents(left), y: cents(bottom), width: cut(right - left), height: cut(top - bottom) };
  }
}

function within(least, most, value) {
  return Math.max(least, Math.min(most, value));
}

// Two digits after the point: as many as anybody sees.
function cents(value) {
  return Math.round(value * 100) / 100;
}

function cut(value) {
  return Math.floor(value * 100 + 1e-6) / 100;
}
