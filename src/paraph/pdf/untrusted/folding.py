"""How texts are compared where one is searched for in another."""

import re
import unicodedata

# PDFium returns a hyphen at a line end as U+0002 or U+FFFE; fonts map others to various hyphens
_HYPHENS = str.maketrans(dict.fromkeys("\x02\ufffe\u00ad\u2010\u2011", "-"))
_INVISIBLE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]+")


def fold(text: str) -> str:
    """Return the form in which tags and pages are compared: compatibility decomposition (ligatures, composed accents),
    no white space (it cannot be told from kerning), no invisible characters, one hyphen. Letter case stays."""
    folded = "".join(text.translate(_HYPHENS).split())
    if folded.isascii() and folded.isprintable():
        return folded
    return "".join(_INVISIBLE.sub("", unicodedata.normalize("NFKD", folded)).split())
