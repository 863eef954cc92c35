"""Whether there are fonts for the letters of every name."""

from collections.abc import Iterator

from paraph.operations.check.outcome import Outcome, ok, warning
from paraph.pdf.typesetting.fonts import CJK, library


def fonts() -> Iterator[Outcome]:
    """A service takes new fonts when it starts."""
    missing = library().missing
    others = ", ".join(script for script in missing if script != CJK)
    if CJK in missing:
        told = f"No font here has {CJK} letters: stamps and proofs have the e-mail address in place of such a name."
        more = f" Missing as well: {others}." if others else ""
        yield warning("fonts", f"{told} Install Noto Sans CJK (Debian: fonts-noto-cjk), and start again.{more}")
    elif others:
        told = f"Names are written in their own letters, but for these, which are written in Latin ones: {others}."
        yield ok("fonts", f"{told} Debian's fonts-noto-core has them.")
    else:
        yield ok("fonts", "Names are written in their own letters.")
