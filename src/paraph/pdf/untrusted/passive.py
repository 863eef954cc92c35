"""What the preflight report says of a file that has nothing unusual."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

NO_ACTIONS = dict.fromkeys(("scripts", "launch_actions", "submit_actions", "attachments"), 0)
SAME_IN_PRINT: dict[str, Any] = {"prints_differently": [], "print_unknown": 0}
NO_BEHAVIOUR: dict[str, Any] = {**NO_ACTIONS, **SAME_IN_PRINT, "can_change": []}
"""What is reported of the behaviour of a file that contains no name of interest."""
PASSIVE: dict[str, Any] = {
    "encryption": None,
    "signatures": {"count": 0, "certification": None, "usage_rights": False},
    "forms": {"fields": 0, "xfa": False},
    **NO_BEHAVIOUR,
    "repairs": [],
}
"""The facts, except the version, of a file without encryption, signatures, forms, behaviour or repairs."""


def page_facts(pages: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """Return ``page_count`` and ``sizes`` (the most frequent first) for (width, height) of each page in points."""
    sizes = Counter((round(width, 2), round(height, 2)) for width, height in pages)
    listed = [{"width": size[0], "height": size[1], "pages": count} for size, count in sizes.most_common()]
    return {"page_count": len(pages), "sizes": listed}
