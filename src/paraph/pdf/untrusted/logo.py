"""Logos that strangers chose: each is drawn anew as PNG by a sandboxed process of its own, which then ends."""

from collections.abc import Mapping
from contextlib import closing

from paraph.kernel.errors import DomainError
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.sandbox import Sandbox, SandboxLimits

LARGEST = 512 * 1024  # bytes
MOST_PIXELS = 4_000  # of a side, in logo_worker too
_LIMITS = SandboxLimits(memory=512 << 20, processor_seconds=5, wall_seconds=10, jobs=1)
_SENTENCES = {
    "too_large": "The logo may have at most {limit} KB; this file is larger.",
    "not_a_picture": "The logo must be a PNG, JPEG or SVG file.",
    "too_many_pixels": "The logo may have at most {limit} pixels a side; this one has {width} by {height}.",
    "animated": "The logo must not be animated.",
    "letters": "The SVG has text in fonts. Convert the text to paths and try again.",
    "elsewhere": "The SVG refers to other files. Put them into it and try again.",
    "nothing_to_see": "There is nothing to see: all of the logo is transparent.",
    "unreadable": "The logo cannot be read. Save it as PNG and try again.",
}


class LogoRefused(DomainError):
    """``reason``: a key of the sentences above; ``facts``: the values in them, for translations."""

    def __init__(self, reason: str, facts: Mapping[str, int | str]) -> None:
        super().__init__("validation_error", _SENTENCES[reason].format(**facts))
        self.reason, self.facts = reason, facts


def redrawn(content: bytes, tenant_key: str) -> tuple[bytes, int, int]:
    """Return a PNG of at most 64 KB, its width (at most 480) and its height (144) in pixels. PNG, JPEG and SVG are
    recognised by their bytes. Raise LogoRefused, or ReadersUnavailable."""
    if len(content) > LARGEST:
        raise LogoRefused("too_large", {"limit": LARGEST // 1024})
    if not content:
        raise LogoRefused("not_a_picture", {})
    try:
        with closing(Sandbox(1, _LIMITS, program="logo_worker")) as pool:
            size, png = pool.call("redraw", content, tenant_key=tenant_key)
    except PdfRefused as refused:
        reason = refused.reason if refused.reason in _SENTENCES else "unreadable"
        raise LogoRefused(reason, {**refused.facts, "limit": MOST_PIXELS}) from refused
    return png, size["width"], size["height"]
