// Where stamps land by themselves: under tags, and on lines for signatures.
"use strict";

const GAP = 2; // points between a tag and the stamp under it, as the service leaves
const ABOVE_A_LINE = 40; // points above a line in which a click means the line

// The place for a stamp of the size at a target of the sheet; null where the page has no room for it.
function placeAt(target, size, page, rectangles) {
  const below = target.kind === "tag";
  const x = below ? target.x + target.width / 2 - size.width / 2 : target.x;
  const y = below ? target.y - GAP - size.height : target.y;
  if (y < 0 || y + size.height > page.height) return null;
  return rectangles.fitted({ x: Math.round(x), y: Math.round(y), ...size }, page);
}

// The rectangle, or the place of a target that it is no farther from than so many points.
function snapped(rectangle, sheet, rectangles, reach) {
  let [nearest, best] = [reach, rectangle];
  for (const target of sheet.targets) {
    const place = placeAt(target, { width: rectangle.width, height: rectangle.height }, sheet, rectangles);
    const far = place ? Math.max(Math.abs(place.x - rectangle.x), Math.abs(place.y - rectangle.y)) : Infinity;
    if (far <= nearest) [nearest, best] = [far, place];
  }
  return best;
}

// The target that a click at the point means.
function targetAt(point, sheet) {
  return sheet.targets.find((target) => {
    const [low, high] = target.kind === "tag" ? [target.y - ABOVE_A_LINE, target.y + target.height] :
      [target.y - GAP, target.y + target.height + ABOVE_A_LINE];
    return point.x >= target.x && point.x <= target.x + target.width && point.y >= low && point.y <= high;
  });
}
