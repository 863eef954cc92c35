"""The initials of a name."""

import unicodedata
from itertools import dropwhile

from paraph.pdf.typesetting.glyph_fallback import clean, clusters

NAMELESS = "—"


def initials_of(name: str) -> str:
    """Returns the initials of a name, at most four letters: "AMR" for "Anna Maria Rossi", "王" for "王小明".

    A letter keeps its marks; a ligature counts as the letters that it joins: "ßen" and "ﬁnn" give "S" and "F". The
    result is never empty, as a signer may have to place it: a name with nothing visible gives a dash.
    """
    words = [word for word in _words(name) if word[0][0].isalnum()]
    chosen = words if len(words) <= 4 else [*words[:3], words[-1]]
    firsts = [_capital(word[0]) for word in chosen] or _visible(name)[:1] or [NAMELESS]
    apart = any(unicodedata.bidirectional(letter[0]) == "AL" for letter in firsts)  # Arabic would join them
    return (" " if apart else "").join(firsts)


def _words(name: str) -> list[list[str]]:
    """Returns the letters of each word, without apostrophes and other modifiers at its beginning."""
    words = clean(unicodedata.normalize("NFKC", clean(name))).replace("-", " ").split()
    return [letters for word in words if (letters := list(dropwhile(_modifies, clusters(word))))]


def _modifies(letter: str) -> bool:
    return unicodedata.category(letter[0]) == "Lm"


def _capital(letter: str) -> str:
    """Returns the capital of a letter; the first letter of a capital that is several, as "Ss"."""
    return next(clusters(unicodedata.normalize("NFC", letter.title())))


def _visible(name: str) -> list[str]:
    return [cluster for cluster in clusters(clean(name)) if not unicodedata.category(cluster[0]).startswith(("M", "Z"))]
