"""The places on the pages of a document that other programs may show differently, outlined on the signer's page."""

from collections import defaultdict

from paraph.documents.models import Document
from paraph.documents.remarks import remarks

SvgBox = dict[str, str]

_BADGE = 7.0  # points: half of the sign at a corner of each place, which stands for the note under the page


def disputed_places(document: Document) -> dict[int, list[SvgBox]]:
    """Returns by page number boxes in points from the top left, with the place of the sign at a corner of each: the one
    that is nearer to an edge of the page, where least is covered."""
    found: dict[int, list[SvgBox]] = defaultdict(list)
    for place in remarks(document).get("drawn_differently", []):
        number = place["page_number"]
        width, height = document.pages[number - 1]
        left, right = place["x"], place["x"] + place["width"]
        top = height - place["y"] - place["height"]
        corner = left if left < width - right else right
        badge = {"badge_x": length(_within(corner, width)), "badge_y": length(_within(top, height))}
        found[number].append(svg_box(left, top, place["width"], place["height"]) | badge)
    return found


def _within(position: float, size: float) -> float:
    return min(max(position, _BADGE), max(size - _BADGE, _BADGE))


def svg_box(x: float, y: float, width: float, height: float) -> SvgBox:
    lengths = {"x": x, "y": y, "width": width, "height": height, "middle_x": x + width / 2, "middle_y": y + height / 2}
    return {name: length(value) for name, value in lengths.items()}


def length(points: float) -> str:
    """A length for SVG, with a point whatever the language."""
    return f"{points:.2f}".rstrip("0").rstrip(".")
