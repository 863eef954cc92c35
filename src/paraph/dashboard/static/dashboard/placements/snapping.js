// Where signatures and fields land by themselves: under tags, and on lines, blanks and rules of the document.
"use strict";

const GAP = 2; // points between a tag and what stands under it, as the service leaves
const OVER_A_LINE = 40; // points over a line in which a click means the line
const OVER_A_RULE = 20; // and over one of which nothing says what it is for

// The place for what has the size at a target of the sheet, near the x where the line is longer; null where the page has no
// room for it.
function placeAt(target, size, page, rectangles, near = 0) {
  const below = target.kind === "tag", last = target.x + target.width - size.width;
  const x = below ? target.x + target.width / 2 - size.width / 2 : within(target.x, Math.max(last, target.x), near);
  const y = below ? target.y - GAP - size.height : target.y;
  if (y < 0 || y + size.height > page.height) return null;
  return rectangles.fitted({ x: Math.round(x), y: Math.round(y), ...size }, page);
}

// The rectangle, or the place of a target that it is no farther from than so many points.
function snapped(rectangle, sheet, rectangles, reach) {
  let [nearest, best] = [reach, rectangle];
  for (const target of [...sheet.targets, ...sheet.rules]) {
    const near = Math.abs(rectangle.x - target.x) <= reach ? target.x : rectangle.x;
    const place = placeAt(target, { width: rectangle.width, height: rectangle.height }, sheet, rectangles, near);
    const far = place ? Math.max(Math.abs(place.x - rectangle.x), Math.abs(place.y - rectangle.y)) : Infinity;
    if (far <= nearest) [nearest, best] = [far, place];
  }
  return best;
}

// The target that a click at the point means.
function targetAt(point, sheet) {
  return [...sheet.targets, ...sheet.rules].find((target) => {
    const over = target.kind === "rule" ? OVER_A_RULE : OVER_A_LINE;
    const [low, high] = target.kind === "tag" ? [target.y - over, target.y + target.height] :
      [target.y - GAP, target.y + target.height + over];
    return point.x >= target.x && point.x <= target.x + target.width && point.y >= low && point.y <= high;
  });
}
