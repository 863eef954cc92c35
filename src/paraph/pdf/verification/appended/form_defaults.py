"""Defaults for drawing fields that an update may add to a form (ISO 32000-2, 12.7.3) with a signature, where nothing
waits for them: two fonts, and forms that draw nothing."""

import re
from typing import Any

from paraph.pdf.structure.objects import Dictionary, Ref
from paraph.pdf.structure.pages import pages
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.unpacking import unpacked
from paraph.pdf.verification.appended.syntax import NotPermitted, is_plain, meaning
from paraph.pdf.verification.appended.view import Update, check_keys, check_same

_FONTS = {b"/Helv": b"/Helvetica", b"/ZaDb": b"/ZapfDingbats"}
_FONT = frozenset({b"/Type", b"/Subtype", b"/BaseFont", b"/Name", b"/Encoding"})
_ENCODINGS = (None, b"/WinAnsiEncoding", b"/PDFDocEncoding", b"/StandardEncoding")
_OF_A_SIGNATURE = re.compile(rb"/FRM\d*")
_NOTHING = re.compile(rb"(?:[\t\n\r ]|%[^\r\n]*+(?:[\r\n]|\Z)|q\b|Q\b|1 0 0 1 0 0 cm\b|/[A-Za-z]+\d* Do\b)*+")
_DRAWN = re.compile(rb"(/[A-Za-z]+\d*) Do\b")
_DEEPEST, _LARGEST = 4, 4096
_MOST_FIELDS = 10_000
_APPEARANCE = re.compile(rb"\(/Helv 0 Tf 0 g ?\)")


def check_defaults(update: Update, old: Dictionary, new: Dictionary) -> frozenset[bytes]:
    """Return which defaults the form gained. Raises :class:`NotPermitted` if they are other ones."""
    appearance = new.get(b"/DA")
    gained = set[bytes]()
    if b"/DA" in new and b"/DA" not in old:
        if not isinstance(appearance, bytes) or not _APPEARANCE.fullmatch(appearance):
            raise NotPermitted("the form gained an odd default appearance")
        gained.add(b"/DA")
    if b"/DR" in new and meaning(new[b"/DR"]) != meaning(old.get(b"/DR")):
        before, after = update.was(old.get(b"/DR", {})), update.dictionary(new[b"/DR"], "the form's resources")
        check_same("the form's resources", before, after, frozenset({b"/Font", b"/XObject"}))
        _check_forms(update, update.was(before.get(b"/XObject", {})), update.now(after.get(b"/XObject", {})))
        _check_fonts(update, update.was(before.get(b"/Font", {})), update.now(after.get(b"/Font", {})))
        gained.add(b"/DR")
    if gained and uses_defaults(update.before):
        raise NotPermitted("the form gained defaults, by which fields or comments may be drawn anew")
    return frozenset(gained)


def uses_defaults(file: PdfReader) -> bool:
    """Return whether a file has a field that is no signature, or a comment, that readers may draw by the defaults of
    its form. Raises :class:`~paraph.pdf.structure.objects.Unsafe`."""
    form = file.resolve(file.dictionary(file.trailer.get(b"/Root")).get(b"/AcroForm"))
    waiting = [*_listed(file, form.get(b"/Fields") if isinstance(form, dict) else None)]
    for annotation in (each for page in pages(file) for each in _listed(file, page.dictionary.get(b"/Annots"))):
        subtype = file.resolve(file.dictionary(annotation).get(b"/Subtype"))
        if subtype == b"/FreeText":
            return True
        waiting += [annotation] if subtype == b"/Widget" else []
    seen = set[Ref]()
    while waiting:
        value = waiting.pop()
        if type(value) is Ref:
            if value in seen:
                continue
            seen.add(value)
        field = file.dictionary(value)
        kids = _listed(file, field.get(b"/Kids"))
        if len(seen) > _MOST_FIELDS or (not kids and _kind(file, field) != b"/Sig"):
            return True
        waiting += kids
    return False


def _kind(file: PdfReader, field: Dictionary) -> Any:
    """Return the /FT of a field or widget, which it may inherit."""
    for _ in range(_DEEPEST):
        if b"/FT" in field or b"/Parent" not in field:
            break
        field = file.dictionary(field[b"/Parent"])
    return file.resolve(field.get(b"/FT"))


def _listed(file: PdfReader, value: Any) -> list[Any]:
    found = file.resolve(value)
    return found if isinstance(found, list) else []


def draws_nothing(update: Update, ref: Any, depth: int = 0) -> bool:
    """Return whether a new form draws nothing but other forms that draw nothing."""
    form = update.stream(ref, "a form")
    contents = unpacked(form, _LARGEST)
    if depth > _DEEPEST or not _NOTHING.fullmatch(contents):
        return False
    inner = update.now(update.now(form.dictionary.get(b"/Resources", {})).get(b"/XObject", {}))
    if not inner.keys() >= set(_DRAWN.findall(contents)):
        return False  # some readers look for the others in the page's resources
    return form.dictionary.get(b"/Subtype") == b"/Form" and all(
        update.is_new(each) and draws_nothing(update, each, depth + 1) for each in inner.values()
    )


def _check_forms(update: Update, old: Any, new: Any) -> None:
    """Check the forms of which programs build what a signature shows."""
    changed = frozenset(name for name in new if meaning(new[name]) != meaning(old.get(name)))
    check_same("the form's resources", old, new, changed)
    if not all(_OF_A_SIGNATURE.fullmatch(name) and _is_harmless(update, new[name]) for name in changed):
        raise NotPermitted("the form gained something to draw")


def _is_harmless(update: Update, ref: Any) -> bool:
    return update.is_new(ref) if update.lenient else draws_nothing(update, ref)


def _check_fonts(update: Update, old: Any, new: Any) -> None:
    check_same("the form's fonts", old, new, frozenset(_FONTS.keys() - old.keys()))
    for name in new.keys() - old.keys():
        font = update.dictionary(new[name], "a font of the form")
        check_keys("a font of the form", font, _FONT)
        kind = (font.get(b"/Type"), font.get(b"/Subtype"), font.get(b"/BaseFont"))
        if kind != (b"/Font", b"/Type1", _FONTS[name]) or not is_plain(font):
            raise NotPermitted("the form gained a font of another kind")
        if font.get(b"/Encoding") not in _ENCODINGS or font.get(b"/Name", name) != name:
            raise NotPermitted("the form gained a font of another kind")
