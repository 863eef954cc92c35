"""What stands for a name whose letters no font has, and the initials of a name."""

import unicodedata
from itertools import dropwhile

from paraph.pdf.typesetting.fonts import Library, library
from paraph.pdf.typesetting.glyph_fallback import clean, clusters, glyph_fallback, has_glyphs

NAMELESS = "—"
_ARTICLE = list("ال")
_WITHOUT_ARTICLE = frozenset({"الياس", "الين", "الاء", "الهام", "السيا"})  # begin like it, and are names as they are
_BEFORE_NAMES = frozenset(
    {"بن", "ابن", "بنت", "ابو", "أبو", "ام", "أم", "آل"}
)  # son, daughter, father, mother, house of
_SERVANT = frozenset({"عبد", "عبيد"})  # with the word after it one name


def readable_name(name: str, address: str, fonts: Library | None = None) -> str:
    """Return the name, or the signer's e-mail address where no font has one of its Han characters: these are read
    otherwise in Chinese, Japanese and Korean, and a name alone does not tell in which of them."""
    han = [cluster for cluster in clusters(clean(name)) if _is_han(cluster[0])]
    if not han or not address:
        return name
    available = fonts or library()
    return name if all(has_glyphs(cluster, available) for cluster in han) else address


def written_otherwise(name: str, address: str, fonts: Library | None = None) -> str:
    """Return what a stamp says in place of the name; "" where it says the name itself."""
    if name.isascii():
        return ""
    written = glyph_fallback(readable_name(name, address, fonts), fonts).text
    return "" if written == clean(name) else written


def _is_han(character: str) -> bool:
    return unicodedata.name(character, "").startswith("CJK")


def initials_of(name: str) -> str:
    """Return the initials of a name, at most four letters: "AMR" for "Anna Maria Rossi", "王" for "王小明",
    "م ع خ" for "محمد عبد الرحمن الخالدي".

    A letter keeps its marks; a ligature counts as the letters that it joins: "ßen" and "ﬁnn" give "S" and "F". The
    result is never empty, as a signer may have to place it: a name with nothing visible gives a dash.
    """
    words = _without_arabic_particles([word for word in _words(name) if word[0][0].isalnum()])
    chosen = words if len(words) <= 4 else [*words[:3], words[-1]]
    firsts = [_capital(word[0]) for word in chosen] or _visible(name)[:1] or [NAMELESS]
    apart = any(unicodedata.bidirectional(letter[0]) == "AL" for letter in firsts)  # Arabic would join them
    return (" " if apart else "").join(firsts)


def _words(name: str) -> list[list[str]]:
    """Return the letters of each word, without apostrophes and other modifiers at its beginning."""
    words = clean(unicodedata.normalize("NFKC", clean(name))).replace("-", " ").split()
    return [letters for word in words if (letters := list(dropwhile(_modifies, clusters(word))))]


def _without_arabic_particles(words: list[list[str]]) -> list[list[str]]:
    """Leave out articles and what only joins names, which would all give the same letters."""
    result: list[list[str]] = []
    before = ""
    for word in words:
        text = "".join(word)
        is_rest = before in _SERVANT and word[:2] == _ARTICLE
        if not is_rest and (text not in _BEFORE_NAMES or len(words) == 1):
            has_article = word[:2] == _ARTICLE and len(word) >= 5 and text not in _WITHOUT_ARTICLE
            result.append(word[2:] if has_article else word)
        before = text
    return result


def _modifies(letter: str) -> bool:
    return unicodedata.category(letter[0]) == "Lm"


def _capital(letter: str) -> str:
    """Return the capital of a letter; the first letter of a capital that is several, as "Ss"."""
    return next(clusters(unicodedata.normalize("NFC", letter.title())))


def _visible(name: str) -> list[str]:
    return [cluster for cluster in clusters(clean(name)) if not unicodedata.category(cluster[0]).startswith(("M", "Z"))]
