"""Where on the pages PDFium shows what other readers leave out, seen by drawing the pages with it and without."""

import io
import re
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import pikepdf
import pypdfium2
from PIL import Image, ImageChops

from paraph.pdf.refusal import page_not_shown
from paraph.pdf.structure.geometry import Box, PageGeometry, transform_box
from paraph.pdf.structure.objects import CONFUSED, REGULAR, SPACE, Dictionary, PdfStream, Ref, Unsafe, parse
from paraph.pdf.structure.pages import PageNode
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.unpacking import unpacked
from paraph.pdf.untrusted.jobs.page_pictures import show_form_fields
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile

_SECONDS = 3.0  # of processor time for all pages; what is left is told as a whole
_PIXELS = 1200  # of the longer side
_FAINT = 16  # of 255
_APART = 6  # rows of pixels between two lines of text
_DEEPEST = 12  # forms within forms
Fonts = frozenset[bytes]
_STRING = rb"\((?:[^()\\]++|\\[\s\S]|\((?:[^()\\]++|\\[\s\S])*+\))*+\)"


def _operator(letters: bytes) -> bytes:
    """Return a pattern that begins with its letters: it is found in half the time of one that begins with what may not
    stand before them."""
    within_a_word = rb"(?<![^\x00\t\n\x0c\r ()<>\[\]{}%%]%b)" % letters
    return letters + within_a_word + rb"(?<=(%b))" % letters + rb"(?!" + REGULAR + rb")"


_WORDS = re.compile(
    _STRING + rb"|%[^\r\n]*+"
    rb"|\((?<=(\())"  # a string with more parentheses within it
    rb"|" + rb"|".join(map(_operator, (b"q", b"Q", b"BI"))) + rb"|/(?<=(/))(" + REGULAR + rb"*+)[" + SPACE + rb"]++"
    rb"[-+.0-9]++[" + SPACE + rb"]++Tf(?!" + REGULAR + rb")"
)


class Dispute(NamedTuple):
    """In user space; ``page`` counts from 0. ``what``: ``link_border``, ``annotation``, ``form_field``, or ``lost``
    for drawings of the page that other readers leave out."""

    page: int
    what: str
    area: Box


def lost_drawings(
    reader: PdfReader, file: UntrustedFile, nodes: Sequence[PageNode], geometries: Sequence[PageGeometry]
) -> Iterator[Dispute]:
    """Yield the places of each page that other readers leave out."""
    scan = _Scan(reader)
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

    def __init__(self, reader: PdfReader) -> None:
        self._reader = reader
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
        found = may_lose(text, fonts) or self._forms(resources, fonts, 0) or self._appearances(node, fonts)
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
                self._known[value, fonts] = may_lose(self._text(form), all_fonts) or self._forms(own, fonts, depth + 1)
        return self._known[value, fonts]

    def _fonts_of(self, resources: Dictionary) -> Fonts:
        fonts = self._reader.resolve(resources.get(b"/Font"))
        return frozenset(
            name for name, font in (fonts.items() if isinstance(fonts, dict) else ()) if self._is_font(font)
        )

    def _is_font(self, value: Any) -> bool:
        font = self._reader.resolve(value)
        return isinstance(font, dict) and (b"/BaseFont" in font or font.get(b"/Subtype") == b"/Type3")

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
    instructions = without_lost(pikepdf.parse_content_stream(page), of_page)
    if instructions is not None:
        page.obj.Contents = document.make_stream(pikepdf.unparse_content_stream(instructions))
    forms = [form for form in _forms_of(page.obj) if _cut_form(form, of_page, 0)]
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
    resources: Any = None
    while resources is None and isinstance(owner, pikepdf.Dictionary | pikepdf.Stream):
        resources, owner = owner.get("/Resources"), owner.get("/Parent")
    objects = resources.get("/XObject") if isinstance(resources, pikepdf.Dictionary) else None
    if isinstance(objects, pikepdf.Dictionary):
        yield from (each for _, each in objects.items() if isinstance(each, pikepdf.Stream))


def _cut_form(form: Any, fonts: Fonts, depth: int) -> bool:
    if form.get("/Subtype") == "/Image" or depth > _DEEPEST:
        return False
    resources = form.get("/Resources")
    own = resources.get("/Font") if isinstance(resources, pikepdf.Dictionary) else None
    fonts = fonts | {
        plain_name(pikepdf.Name(name))
        for name, font in (own.items() if isinstance(own, pikepdf.Dictionary) else ())
        if isinstance(font, pikepdf.Dictionary) and ("/BaseFont" in font or font.get("/Subtype") == "/Type3")
    }
    instructions = without_lost(pikepdf.parse_content_stream(form), fonts)
    if instructions is not None:
        form.write(pikepdf.unparse_content_stream(instructions))
    inner = [each for each in _named_forms(form) if _cut_form(each, fonts, depth + 1)]
    return instructions is not None or bool(inner)


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
    for first, last in _rows(different):
        line = different.crop((0, first, different.width, last)).getbbox()
        if line:
            box = (line[0] * across, geometry.height - last * down, line[2] * across, geometry.height - first * down)
            yield transform_box(geometry.to_user, box)


def _rows(different: Image.Image) -> list[list[int]]:
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


def may_lose(contents: bytes, fonts: Collection[bytes]) -> bool:
    """Return whether contents with these fonts may lose a part, told at a glance; :func:`without_lost` knows for
    certain."""
    depth = 0
    for parenthesis, opens, closes, image, slash, font in _WORDS.findall(contents):
        if opens:
            depth += 1
        elif closes:
            depth -= 1
        elif parenthesis or image or (slash and slash + font not in fonts):
            return True
        if depth < 0:
            return True
    return False


def without_lost(instructions: Iterable[Any], fonts: Collection[bytes]) -> list[Any] | None:
    """Return the instructions that all readers follow, ``None`` if these are all: text in a missing font has no size,
    and there is nothing behind a ``Q`` that closes nothing."""
    kept: list[Any] = []
    depth, lost = 0, False
    for instruction in instructions:
        operator = instruction.operator.unparse()  # str() needs UTF-8
        depth += (operator == b"q") - (operator == b"Q")
        if depth < 0:
            return kept
        if operator == b"Tf" and len(instruction.operands) > 1 and plain_name(instruction.operands[0]) not in fonts:
            lost = True
            operands = [instruction.operands[0], 0]
            instruction = pikepdf.ContentStreamInstruction(operands, instruction.operator)  # noqa: PLW2901
        kept.append(instruction)
    return kept if lost else None


def plain_name(value: Any) -> bytes:
    """Return a name as our own reader has it; empty for anything else."""
    return bytes(parse(value.unparse(), 0)[0]) if isinstance(value, pikepdf.Name) else b""
