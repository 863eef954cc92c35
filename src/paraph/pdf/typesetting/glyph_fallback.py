"""Transliteration of letters that no font has, which would be drawn as boxes; readable names and their initials.

Every text from outside passes :func:`glyph_fallback` before it is typeset, and the caller learns whether it changed.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import dropwhile
from typing import Any

from anyascii import anyascii

from paraph.pdf.typesetting.fonts import Library, library

_JOINERS = "\u200c\u200d"  # Persian and Indic names are spelled with them
_SKIN_TONES = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
_VARIATIONS = range(0xFE00, 0xFE10)
_LONGEST_PIECE = 20
_RIGHT_TO_LEFT = ("R", "AL")
NAMELESS = "—"
_ARTICLE = list("ال")
_WITHOUT_ARTICLE = frozenset({"الياس", "الين", "الاء", "الهام", "السيا"})  # names that only begin like the article
_BEFORE_NAMES = frozenset({"بن", "ابن", "بنت", "ابو", "أبو", "ام", "أم", "آل"})
"""Son, daughter, father, mother, house of."""
_SERVANT = frozenset({"عبد", "عبيد"})  # one name together with the word after it


@dataclass(frozen=True)
class WritableText:
    """A text for which the fonts have all glyphs. ``transliterated``: it differs from the original; ``cjk``: the
    regional form of its Han characters ("SC", "JP", "KR", "TC"), "" without any."""

    text: str
    transliterated: bool = False
    cjk: str = ""
    right_to_left: bool = False

    def to_json(self) -> dict[str, Any]:
        return {"text": self.text, "cjk": self.cjk, "rtl": self.right_to_left}

    def pieces(self) -> list[tuple[str, str]]:
        """Return the parts between which a line may break, each with what separates it from the next: a space or "".

        Lines break at spaces and after hyphens; Han, kana and hangul break anywhere, as do very long words.
        """
        if self.cjk:
            return [(cluster, "") for cluster in clusters(self.text)]
        result: list[tuple[str, str]] = []
        for word in self.text.split(" "):
            chunks = _short(re.findall(r"[^-]*-|[^-]+", word))
            result += [(chunk, " " if index == len(chunks) - 1 else "") for index, chunk in enumerate(chunks)]
        return result


def glyph_fallback(text: str, fonts: Library | None = None) -> WritableText:
    """Clean ``text`` (:func:`clean`) and replace each cluster that no font has by ASCII that sounds like it."""
    return _glyph_fallback(text, fonts or library())


@lru_cache(maxsize=4096)
def _glyph_fallback(text: str, fonts: Library) -> WritableText:
    original = clean(text)
    if original.isascii():
        return WritableText(original)
    known = {cluster: has_glyphs(cluster, fonts) for cluster in set(clusters(original))}
    if all(known.values()):
        return WritableText(original, False, _cjk(original), _is_right_to_left(original))
    written: list[str] = []
    replaced = was_syllable = False
    for cluster in clusters(original):
        if known[cluster]:
            written.append(cluster)
            was_syllable = False
        else:
            # Han and hangul: in Latin letters, each becomes a word, or a part of a name.
            replaced, is_syllable = True, unicodedata.name(cluster[0], "").startswith(("CJK", "HANGUL"))
            written.append(" " * (was_syllable and is_syllable) + _transliterated(cluster))
            was_syllable = is_syllable
    result = " ".join("".join(written).split()) if replaced else original
    return WritableText(result, replaced, _cjk(result), _is_right_to_left(result))


def template_text(text: str) -> str | dict[str, Any]:
    """Prepare ``text`` for the templates' ``write``, with places for line breaks in addresses and very long words."""
    result = glyph_fallback(text)
    if result.right_to_left or all(len(word) <= _LONGEST_PIECE for word in result.text.split(" ")):
        return result.text if result.text.isascii() else result.to_json()
    return {**result.to_json(), "parts": unbroken_parts(result.text)}


def unbroken_parts(text: str) -> list[str]:
    """Return the parts of a text from left to right that no line break divides."""
    return _short(re.findall(r"[^\s/?&=._@:,;+-]*[\s/?&=._@:,;+-]?", text))


def clean(text: str) -> str:
    """Return the text in NFC, with single spaces and without control characters and direction marks, with which a
    name could reverse the text around it."""
    composed = unicodedata.normalize("NFC", text.encode("utf-8", "replace").decode())
    unseen = {
        character
        for character in set(composed).difference(_JOINERS)
        if unicodedata.category(character) in ("Cc", "Cf", "Cs") and not character.isspace()
    }
    return " ".join(composed.translate(dict.fromkeys(map(ord, unseen))).split())


def clusters(text: str) -> Iterator[str]:
    """Yield each base character together with the marks on it and the characters joined to it."""
    if text.isascii():
        yield from text
        return
    joining = {
        character
        for character in set(text)
        if character in _JOINERS or character in _SKIN_TONES or unicodedata.category(character).startswith("M")
    }
    if not joining:
        yield from text
        return
    cluster = ""
    for character in text:
        if cluster and (character in joining or cluster.endswith("\u200d")):
            cluster += character
        else:
            if cluster:
                yield cluster
            cluster = character
    if cluster:
        yield cluster


def has_glyphs(cluster: str, fonts: Library) -> bool:
    """Return whether a single font has all characters of the cluster, composed or decomposed: Typst sets a cluster in
    one font."""
    if any(unicodedata.category(character) == "Co" for character in cluster):
        return False  # private use: every font means something else by it
    forms = {cluster, unicodedata.normalize("NFD", cluster)}
    needed = [{ord(c) for c in form if c not in _JOINERS and ord(c) not in _VARIATIONS} for form in forms]
    return any(points <= font.characters for font in fonts.covering for points in needed)


def _short(parts: Iterable[str]) -> list[str]:
    """Return the parts, with very long ones divided."""
    divided = list[str]()
    for part in parts:
        letters = list(clusters(part))
        starts = range(0, len(letters), _LONGEST_PIECE)
        divided += ["".join(letters[start : start + _LONGEST_PIECE]) for start in starts]
    return divided


def _transliterated(cluster: str) -> str:
    ascii_ = anyascii(cluster).strip()
    if len(ascii_) > 2 and ascii_.startswith(":") and ascii_.endswith(":"):
        ascii_ = f"({ascii_[1:-1]})"  # emoji come as :grinning:
    return ascii_ or "".join(f"[U+{ord(c):04X}]" for c in cluster if c not in _JOINERS)


def _cjk(text: str) -> str:
    """Return the regional form of Han characters: Japanese beside kana, Korean beside hangul, else Chinese."""
    regions = {"SC": False, "JP": False, "KR": False, "TC": False}
    for character in set(text):
        if ord(character) < 0x1100:
            continue
        name = unicodedata.name(character, "")
        regions["JP"] |= name.startswith(("HIRAGANA", "KATAKANA"))
        regions["KR"] |= name.startswith("HANGUL")
        regions["TC"] |= name.startswith("BOPOMOFO")
        regions["SC"] |= name.startswith("CJK")
    return next((region for region in ("JP", "KR", "TC", "SC") if regions[region]), "")


def _is_right_to_left(text: str) -> bool:
    strong = (unicodedata.bidirectional(character) for character in text)
    return next((kind in _RIGHT_TO_LEFT for kind in strong if kind in ("L", *_RIGHT_TO_LEFT)), False)


def readable_name(name: str, address: str, fonts: Library | None = None) -> str:
    """Return the name, or the signer's e-mail address where no font has one of its Han characters: these are read
    differently in Chinese, Japanese and Korean, and a name alone does not tell which of them it is."""
    han = [cluster for cluster in clusters(clean(name)) if unicodedata.name(cluster[0], "").startswith("CJK")]
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


def initials_of(name: str) -> str:
    """Return the initials of a name, at most four letters: "AMR" for "Anna Maria Rossi", "王" for "王小明",
    "م ع خ" for "محمد عبد الرحمن الخالدي".

    A letter keeps its marks; a ligature counts as the letters that it joins: "ßen" and "ﬁnn" give "S" and "F". The
    result is never empty, as a signer may have to place it: a name with nothing visible gives a dash.
    """
    words = _without_arabic_particles([word for word in _words(name) if word[0][0].isalnum()])
    chosen = words if len(words) <= 4 else [*words[:3], words[-1]]
    seen = (each for each in clusters(clean(name)) if unicodedata.category(each[0])[0] not in "MZ")
    firsts = [_capital(word[0]) for word in chosen] or [next(seen, NAMELESS)]
    apart = any(unicodedata.bidirectional(letter[0]) == "AL" for letter in firsts)  # Arabic would join them
    return (" " if apart else "").join(firsts)


def _words(name: str) -> list[list[str]]:
    """Return the letters of each word, without apostrophes and other modifiers at its beginning."""
    words = clean(unicodedata.normalize("NFKC", clean(name))).replace("-", " ").split()
    parted = (list(dropwhile(lambda letter: unicodedata.category(letter[0]) == "Lm", clusters(word))) for word in words)
    return [letters for letters in parted if letters]


def _without_arabic_particles(words: list[list[str]]) -> list[list[str]]:
    """Leave out articles and words that only join names: all names would get the same letters from them."""
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


def _capital(letter: str) -> str:
    """Return the capital of a letter; only the first letter where the capital has several, such as "Ss"."""
    return next(clusters(unicodedata.normalize("NFC", letter.title())))
