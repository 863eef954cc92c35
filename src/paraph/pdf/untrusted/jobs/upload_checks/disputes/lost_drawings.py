"""Where on the pages PDFium shows what other readers leave out, seen by drawing the pages with it and without."""

import io
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pikepdf
import pypdfium2
from PIL import Image, ImageChops

from paraph.pdf.refusal import page_not_shown
from paraph.pdf.structure.geometry import Box, PageGeometry, transform_box
from paraph.pdf.structure.graphics_state import ending
from paraph.pdf.structure.objects import CONFUSED, Dictionary, PdfStream, Ref, Unsafe
from paraph.pdf.structure.pages import PageNode
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.unpacking import unpacked
from paraph.pdf.untrusted.jobs.page_pictures import show_form_fields
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile
from paraph.pdf.untrusted.jobs.upload_checks.disputes.followed_operations import (
    is_cut_off,
    may_lose,
    plain_name,
    without_lost,
)

_SECONDS = 3.0  # of processor time for all pages; what is left is told as a whole
_PIXELS = 1200  # of the longer side
_FAINT = 16  # of 255
_APART = 6  # rows of pixels between two lines of text
_OF_COMPOSITES = (b"/CIDFontType0", b"/CIDFontType2")
_DEEPEST = 12  # forms within forms
_MOST_READ = 8 << 20  # bytes of contents whose operations are read one by one; more are looked at only briefly
Fonts = frozenset[bytes]


class Dispute(NamedTuple):
    """In user space; ``page`` counts from 0. ``what``: ``link_border``, ``annotation``, ``form_field``, or ``lost``
    for drawings of the page that other readers leave out."""

    page: int
    what: str
    area: Box


def lost_drawings(
    reader: PdfReader,
    file: UntrustedFile,
    nodes: Sequence[PageNode],
    geometries: Sequence[PageGeometry],
    *,
    clean_contents: bool,
) -> Iterator[Dispute]:
    """Yield the places of each page that other readers leave out. ``clean_contents``:
    :func:`paraph.pdf.structure.page_endings.all_end_clean` holds for the file."""
    scan = _Scan(reader, clean_contents=clean_contents)
    suspected = [index for index, node in enumerate(nodes) if scan.suspects(node)]
    if not suspected:
        return
    changed, unclear, content = _without_lost(file, suspected, scan.fonts)
    yield from (Dispute(index, "lost", geometries[index].visible) for index in unclear)
    if not changed:
        return
    deadline = time.process_time() + _SECONDS
    with UntrustedFile(content=content) as variant:
        before, after = file.pdfium_again(), variant.pdfium()
        for document in (before, after):
            show_form_fields(document)
        for index in changed:
            whole = geometries[index].visible
            boxes = [whole] if time.process_time() > deadline else _changed(before, after, index, geometries[index])
            yield from (Dispute(index, "lost", box) for box in boxes)


class _Scan:
    """A look at the contents of all pages, of the forms that they draw, and of the appearances of annotations."""

    def __init__(self, reader: PdfReader, *, clean_contents: bool) -> None:
        self._reader = reader
        self._clean_contents = clean_contents
        self._left = _MOST_READ
        self._known: dict[tuple[Ref, Fonts], bool] = {}
        self.fonts: dict[int, Fonts] = {}
        """The fonts of the resources of each page that was suspected, by its number in the file."""

    def suspects(self, node: PageNode) -> bool:
        resolve = self._reader.resolve
        resources = resolve(node.get(b"/Resources"))
        resources = resources if isinstance(resources, dict) else {}
        fonts = self._fonts_of(resources)
        contents = resolve(node.dictionary.get(b"/Contents"))
        streams = [resolve(each) for each in contents] if isinstance(contents, list) else [contents]
        text = b"\n".join(self._text(each) for each in streams if isinstance(each, PdfStream))
        found = (
            may_lose(text, fonts)
            or (not self._clean_contents and self._is_malformed(text))
            or self._forms(resources, fonts, 0)
            or self._appearances(node, fonts)
        )
        if found:
            self.fonts[node.ref.number] = fonts
        return found

    def _forms(self, resources: Dictionary, fonts: Fonts, depth: int) -> bool:
        objects = self._reader.resolve(resources.get(b"/XObject"))
        return isinstance(objects, dict) and any(self._form(each, fonts, depth) for each in objects.values())

    def _appearances(self, node: PageNode, fonts: Fonts) -> bool:
        resolve = self._reader.resolve
        annotations = resolve(node.dictionary.get(b"/Annots"))
        for item in annotations if isinstance(annotations, list) else []:
            annotation = resolve(item)
            looks = resolve(annotation.get(b"/AP")) if isinstance(annotation, dict) else None
            normal = looks.get(b"/N") if isinstance(looks, dict) else None
            states = resolve(normal)
            if any(self._form(each, fonts, 0) for each in (states.values() if isinstance(states, dict) else [normal])):
                return True
        return False

    def _form(self, value: Any, fonts: Fonts, depth: int) -> bool:
        """Return whether a form with the fonts of the page behind its own may lose something."""
        if type(value) is not Ref or depth > _DEEPEST:
            return False
        if (value, fonts) not in self._known:
            self._known[value, fonts] = False  # also of one that draws itself
            form = self._reader.resolve(value)
            if isinstance(form, PdfStream) and self._reader.resolve(form.dictionary.get(b"/Subtype")) != b"/Image":
                own = self._reader.resolve(form.dictionary.get(b"/Resources"))
                own = own if isinstance(own, dict) else {}
                all_fonts = fonts | self._fonts_of(own)
                text = self._text(form)
                self._known[value, fonts] = (
                    may_lose(text, all_fonts) or self._is_malformed(text) or self._forms(own, fonts, depth + 1)
                )
        return self._known[value, fonts]

    def _fonts_of(self, resources: Dictionary) -> Fonts:
        fonts = self._reader.resolve(resources.get(b"/Font"))
        return frozenset(
            name for name, font in (fonts.items() if isinstance(fonts, dict) else ()) if self._is_font(font)
        )

    def _is_font(self, value: Any) -> bool:
        resolve = self._reader.resolve
        font = resolve(value)
        if not isinstance(font, dict) or font.get(b"/Subtype") != b"/Type0":
            return isinstance(font, dict) and (b"/BaseFont" in font or font.get(b"/Subtype") == b"/Type3")
        descendants = resolve(font.get(b"/DescendantFonts"))
        first = resolve(next(iter(descendants), None)) if isinstance(descendants, list) else None
        return isinstance(first, dict) and resolve(first.get(b"/Subtype")) in _OF_COMPOSITES

    def _is_malformed(self, text: bytes) -> bool:
        """Return whether there may be an operation in it that not all readers understand."""
        self._left -= len(text)
        return self._left >= 0 and ending([text]) is None

    def _text(self, stream: PdfStream) -> bytes:
        try:
            return unpacked(stream)
        except (Unsafe, *CONFUSED):
            return b""  # no reader decodes it


def _without_lost(
    file: UntrustedFile, suspected: list[int], fonts: dict[int, Fonts]
) -> tuple[list[int], list[int], bytes]:
    """Return the pages that lose something, those of which nobody can tell, and the file without what is lost."""
    changed, unclear = list[int](), list[int]()
    with pikepdf.open(io.BytesIO(file.whole), inherit_page_attributes=False, suppress_warnings=True) as document:
        for index in suspected:
            try:
                if _cut_page(document, index, fonts):
                    changed.append(index)
            except (pikepdf.PikepdfError, Unsafe, *CONFUSED):
                unclear.append(index)
        if not changed:
            return [], unclear, b""
        target = io.BytesIO()
        document.save(target, encryption=False, fix_metadata_version=False)
        return changed, unclear, target.getvalue()


def _cut_page(document: pikepdf.Pdf, index: int, fonts: dict[int, Fonts]) -> bool:
    page = document.pages[index]
    of_page = fonts.get(page.obj.objgen[0], frozenset())
    contents = page.obj.get("/Contents")
    streams = list(contents) if isinstance(contents, pikepdf.Array) else [contents]
    text = b"\n".join(each.read_bytes() for each in streams if isinstance(each, pikepdf.Stream))
    empty = _empty_composites(_named_fonts(page.obj))
    instructions = without_lost(pikepdf.parse_content_stream(page), of_page, empty, cut_off=is_cut_off(text))
    if instructions is not None:
        page.obj.Contents = document.make_stream(pikepdf.unparse_content_stream(instructions))
    forms = [form for form in _forms_of(page.obj) if _cut_form(form, of_page, empty, 0)]
    return instructions is not None or bool(forms)


def _forms_of(page: Any) -> Iterator[Any]:
    """Yield the forms that a page draws, and the appearances of its annotations."""
    yield from _named_forms(page)
    annotations = page.get("/Annots")
    for annotation in annotations if isinstance(annotations, pikepdf.Array) else []:
        looks = annotation.get("/AP") if isinstance(annotation, pikepdf.Dictionary) else None
        normal = looks.get("/N") if isinstance(looks, pikepdf.Dictionary) else None
        if isinstance(normal, pikepdf.Stream):
            yield normal
        elif isinstance(normal, pikepdf.Dictionary):
            yield from (each for _, each in normal.items() if isinstance(each, pikepdf.Stream))


def _named_forms(owner: Any) -> Iterator[Any]:
    objects = _of_resources(owner, "/XObject")
    if objects is not None:
        yield from (each for _, each in objects.items() if isinstance(each, pikepdf.Stream))


def _of_resources(owner: Any, key: str) -> pikepdf.Dictionary | None:
    """Return a dictionary of the resources of a page, which may inherit them, or of a form."""
    resources: Any = None
    while resources is None and isinstance(owner, pikepdf.Dictionary | pikepdf.Stream):
        resources, owner = owner.get("/Resources"), owner.get("/Parent")
    found = resources.get(key) if isinstance(resources, pikepdf.Dictionary) else None
    return found if isinstance(found, pikepdf.Dictionary) else None


def _cut_form(form: Any, fonts: Fonts, empty: Fonts, depth: int) -> bool:
    if form.get("/Subtype") == "/Image" or depth > _DEEPEST:
        return False
    own = _named_fonts(form)
    fonts |= {name for name, font in own.items() if _is_font(font)}
    empty = (empty - own.keys()) | _empty_composites(own)
    cut_off = is_cut_off(form.read_bytes())
    instructions = without_lost(pikepdf.parse_content_stream(form), fonts, empty, cut_off=cut_off)
    if instructions is not None:
        form.write(pikepdf.unparse_content_stream(instructions))
    inner = [each for each in _named_forms(form) if _cut_form(each, fonts, empty, depth + 1)]
    return instructions is not None or bool(inner)


def _named_fonts(owner: Any) -> dict[bytes, Any]:
    fonts = _of_resources(owner, "/Font")
    return {plain_name(pikepdf.Name(name)): font for name, font in fonts.items()} if fonts is not None else {}


def _is_font(font: Any) -> bool:
    return isinstance(font, pikepdf.Dictionary) and ("/BaseFont" in font or font.get("/Subtype") == "/Type3")


def _empty_composites(fonts: Mapping[bytes, Any]) -> Fonts:
    """Return the composite fonts that lack the font they are made of. PDFium shows nothing in those, others words."""
    return frozenset(name for name, font in fonts.items() if _is_font(font) and _is_empty_composite(font))


def _is_empty_composite(font: pikepdf.Dictionary) -> bool:
    descendants = font.get("/DescendantFonts")
    first = next(iter(descendants), None) if isinstance(descendants, pikepdf.Array) else None
    kind = first.get("/Subtype") if isinstance(first, pikepdf.Dictionary) else None
    is_one = isinstance(kind, pikepdf.Name) and plain_name(kind) in _OF_COMPOSITES
    return font.get("/Subtype") == "/Type0" and not is_one


def _changed(
    before: pypdfium2.PdfDocument, after: pypdfium2.PdfDocument, index: int, geometry: PageGeometry
) -> Iterator[Box]:
    """Yield the lines in which two pictures of the page differ, in user space."""
    try:
        old, new = _drawn(before, index), _drawn(after, index)
    except (pypdfium2.PdfiumError, ValueError) as error:
        raise page_not_shown(index + 1) from error
    different = ImageChops.difference(old, new).convert("L").point(lambda value: 255 * (value > _FAINT))
    across, down = geometry.width / old.width, geometry.height / old.height
    for first, last in rows_of(different):
        line = different.crop((0, first, different.width, last)).getbbox()
        if line:
            box = (line[0] * across, geometry.height - last * down, line[2] * across, geometry.height - first * down)
            yield transform_box(geometry.to_user, box)


def rows_of(different: Image.Image) -> list[list[int]]:
    """Return the first row of each line, and the one after its last."""
    found: list[list[int]] = []
    for row in (row for row in range(different.height) if different.crop((0, row, different.width, row + 1)).getbbox()):
        if found and row - found[-1][1] <= _APART:
            found[-1][1] = row + 1
        else:
            found.append([row, row + 1])
    return found


def _drawn(document: pypdfium2.PdfDocument, index: int) -> Image.Image:
    page = document[index]
    try:
        bitmap = page.render(scale=_PIXELS / max(*page.get_size(), 1.0), rev_byteorder=True)
        image: Image.Image = bitmap.to_pil().convert("RGB")
        return image
    finally:
        page.close()
