"""What stands for a name whose letters no font has."""

import unicodedata

from paraph.pdf.typesetting.fonts import Library, library
from paraph.pdf.typesetting.glyph_fallback import clean, clusters, glyph_fallback, has_glyphs


def readable_name(name: str, address: str, fonts: Library | None = None) -> str:
    """Returns the name, or the signer's e-mail address where no font has one of its Han characters: these are read
    otherwise in Chinese, Japanese and Korean, and a name alone does not tell in which of them."""
    han = [cluster for cluster in clusters(clean(name)) if _is_han(cluster[0])]
    if not han or not address:
        return name
    available = fonts or library()
    return name if all(has_glyphs(cluster, available) for cluster in han) else address


def written_otherwise(name: str, address: str, fonts: Library | None = None) -> str:
    """Returns what a stamp says in place of the name; "" where it says the name itself."""
    if name.isascii():
        return ""
    written = glyph_fallback(readable_name(name, address, fonts), fonts).text
    return "" if written == clean(name) else written


def _is_han(character: str) -> bool:
    return unicodedata.name(character, "").startswith("CJK")
