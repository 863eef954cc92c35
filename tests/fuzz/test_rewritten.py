"""An update that changes an object of the file is refused, whatever the object and however it differs, even where no
picture of a page shows it."""

import re
from collections.abc import Iterator

import pikepdf
import pytest

from lab.fuzz.altered.authorities import authority
from lab.fuzz.altered.covers import add_signature
from lab.fuzz.altered.genuine import genuine, resealed
from lab.fuzz.altered.known import Known, Pairs, Stream, known, known_of
from lab.fuzz.altered.tail import Tail
from paraph.pdf.structure.objects import Ref, parse
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.verification.pictures import DrawingTime
from paraph.pdf.verification.verify import verify
from tests.pdf.pdf_factory import paper, text

_FILES = ("letter B-T", "form B-LTA", "packed letter B-T", "encrypted letter B-LTA")
_HEAD = re.compile(rb"\d+ \d+ obj\s*")


def accepted(content: bytes) -> bool:
    """Return whether the file is valid, judged by its objects alone."""
    return verify(content, [authority().root], drawing=DrawingTime(0)).ok


def objects(pdf: bytes) -> Iterator[tuple[int, bytes, bool]]:
    """Yield each unpacked object: its number, its text without stream data, and whether it is a stream."""
    reader = PdfReader(pdf)
    for number in range(1, reader.crossreference.next_number):
        entry = reader.crossreference.entry(number)
        head = _HEAD.match(pdf, entry.place) if entry and not entry.packed else None
        if head:
            end = parse(pdf, head.end())[1]
            yield number, pdf[head.end() : end], pdf[end : end + 20].lstrip().startswith(b"stream")


def written(base: Known, number: int, body: bytes, generation: int = 0) -> bytes:
    """Return the file with the object rewritten, under a trusted timestamp."""
    tail = Tail(base)
    tail.put(number, body)
    if generation:
        tail.generations[number], tail.heads[number] = generation, b"%d %d obj\n" % (number, generation)
    add_signature(tail)
    return tail.write().pdf


@pytest.mark.parametrize("name", _FILES)
def test_a_stream_is_no_dictionary(name: str) -> None:
    streams = [(number, body) for number, body, is_stream in objects(genuine(name)) if is_stream]
    assert streams
    assert [number for number, body in streams if accepted(written(known(name), number, body))] == []


@pytest.mark.parametrize("name", _FILES)
def test_an_object_of_another_generation_is_another(name: str) -> None:
    plain = [(number, body) for number, body, is_stream in objects(genuine(name)) if not is_stream]
    assert plain
    assert [number for number, body in plain if accepted(written(known(name), number, body, 1))] == []


def metadata(body: str) -> bytes:
    return (
        '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">'
        f'{body}</x:xmpmeta><?xpacket end="w"?>'
    ).encode()


_RDF, _DC = "http://www.w3.org/1999/02/22-rdf-syntax-ns#", "http://purl.org/dc/elements/1.1/"
_TITLE = (
    f'<rdf:RDF xmlns:rdf="{_RDF}"><rdf:Description rdf:about="" xmlns:dc="{_DC}"><dc:title><rdf:Alt>'
    '<rdf:li xml:lang="x-default">Loan of 1,000</rdf:li></rdf:Alt></dc:title></rdf:Description></rdf:RDF>'
)
_OTHER = _TITLE.replace("1,000", "9,000,000")
_BOOK = f'<dc:Book xmlns:dc="{_DC}" rdf:about="">' + _OTHER.partition(f'xmlns:dc="{_DC}">')[2].replace(
    "</rdf:Description></rdf:RDF>", "</dc:Book>"
)
_METADATA = {
    "a prefix of another namespace": metadata(
        _OTHER.replace(f'rdf="{_RDF}"', 'rdf="urn:x"') + _TITLE.replace("rdf:", "r:").replace(":rdf=", ":r=")
    ),
    "an old namespace": metadata(_OTHER.replace(_RDF, "http://www.w3.org/TR/1999/PR-rdf-syntax-19990105#") + _TITLE),
    "a typed node": metadata(_TITLE.replace("</rdf:RDF>", _BOOK + "</rdf:RDF>")),
    "a typed node first": metadata(_TITLE.replace("<rdf:Description", _BOOK + "<rdf:Description")),
    "a comment": metadata(f"<!-- {_OTHER} -->{_TITLE}"),
    "text within a list": metadata(_TITLE.replace("<rdf:li", "Loan of 9,000,000<rdf:li")),
    "a property outside": metadata(_TITLE + f'<dc:title xmlns:dc="{_DC}">9,000,000</dc:title>'),
    "two subjects": metadata(
        _TITLE.replace("</rdf:RDF>", '<rdf:Description rdf:about="urn:other"></rdf:Description></rdf:RDF>')
    ),
    "a literal": metadata(_TITLE.replace("<dc:title>", '<dc:title rdf:parseType="Literal">')),
    "a second packet": metadata(f'<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?>{_TITLE}'),
    "RDF alone": _OTHER.encode(),
    "declarations in UTF-16": (
        f'<!DOCTYPE a [<!ENTITY t "Loan of 1,000">]>{_TITLE.replace("Loan of 1,000", "&t;")}'.encode("utf-16")
    ),
    "another encoding": b'<?xml version="1.0" encoding="cp037"?>' + _OTHER.encode("cp037"),
    "an instruction": metadata("<?other x?>" + _TITLE),
    "a default namespace": metadata(_TITLE.replace("dc:title", "title").replace("xmlns:dc", "xmlns")),
}


def with_metadata(body: bytes) -> Known:
    def prepare(document: pikepdf.Pdf) -> None:
        document.Root.Metadata = document.make_stream(body, Type=pikepdf.Name.Metadata, Subtype=pikepdf.Name.XML)

    return known_of(resealed(paper(text("I owe 1,000 EUR", 100, 700), prepare=prepare), "B-T"))


def _stated(base: Known, body: bytes) -> bytes:
    tail = Tail(base)
    number = tail.add(Stream(b"/Type/Metadata/Subtype/XML", body))
    tail.root.set(b"/Metadata", b"%d 0 R" % number)
    add_signature(tail)
    return tail.write().pdf


@pytest.mark.parametrize("how", _METADATA)
def test_metadata_say_the_same_to_every_reader(how: str) -> None:
    base = with_metadata(metadata(_TITLE))
    assert not accepted(_stated(base, _METADATA[how]))


def test_metadata_of_programs_are_read() -> None:
    base = with_metadata(metadata(_TITLE))
    assert accepted(_stated(base, metadata(_TITLE)))
    stated = _TITLE.replace("xmlns:dc", 'xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:ModifyDate="2026-01-01" xmlns:dc')
    assert accepted(_stated(base, metadata(stated)))
    assert accepted(_stated(with_metadata(_TITLE.encode()), _TITLE.encode()))


def test_what_a_reader_knows_of_another_generation_is_not_read() -> None:
    reader = PdfReader(genuine("letter B-T"))
    number = next(number for number, _, is_stream in objects(genuine("letter B-T")) if not is_stream)
    assert reader.object(Ref(number, 0)) is not None
    with pytest.raises(Exception, match="another generation"):
        reader.object(Ref(number, 1))


_FORM = b"/Type/XObject/Subtype/Form/BBox[0 0 300 40]"


@pytest.mark.parametrize("names", [b"", b"/N"])
def test_what_draws_nothing_draws_nothing_of_the_page(names: bytes) -> None:
    """Where the resources of an appearance lack a name, readers look for it in those of the page."""

    def prepare(document: pikepdf.Pdf) -> None:
        drawn = document.make_stream(b"0 0 300 40 re f", Type=pikepdf.Name.XObject, Subtype=pikepdf.Name.Form)
        drawn.BBox = pikepdf.Array([0, 0, 300, 40])
        document.pages[0].obj.Resources.XObject = pikepdf.Dictionary(F=drawn)

    tail = Tail(known_of(resealed(paper(text("I owe 1,000 EUR", 100, 700), prepare=prepare), "B-T")))
    empty = tail.add(Stream(_FORM, b""))
    resources = b"/Resources<</XObject<<%b %d 0 R>>>>" % (names, empty) if names else b""
    looks = tail.add(Stream(_FORM + resources, b"/F Do"))

    def shown(pairs: Pairs) -> None:
        for key, value in ((b"/Rect", b"[95 688 395 728]"), (b"/AP", b"<</N %d 0 R>>" % looks), (b"/F", b"4")):
            pairs.set(key, value)

    add_signature(tail, change=shown)
    assert not accepted(tail.write().pdf)


_WAITING = {
    "a text field": b"<</Type/Annot/Subtype/Widget/FT/Tx/T(sum)/V(9,000,000)/F 4/Rect[100 600 300 620]>>",
    "a choice": b"<</Type/Annot/Subtype/Widget/FT/Ch/T(sum)/V(9)/Opt[(9)(x)]/Ff 131072/F 4/Rect[100 600 300 620]>>",
    "a button": b"<</Type/Annot/Subtype/Widget/FT/Btn/T(sum)/Ff 65536/MK<</CA(9)>>/F 4/Rect[100 600 300 620]>>",
    "a comment": b"<</Type/Annot/Subtype/FreeText/Contents(9,000,000)/F 4/Rect[100 600 300 620]>>",
}


_DRAWN_BY_THEMSELVES = {
    "nothing": b"",
    "a note with its window": b"<</Type/Annot/Subtype/Text/T(Ada)/Contents(a)/Rect[9 9 29 29]/F 28>>",
    "a link": b"<</Type/Annot/Subtype/Link/Border[0 0 0]/Rect[9 9 29 29]>>",
}


@pytest.mark.parametrize("what", [*_WAITING, *_DRAWN_BY_THEMSELVES])
def test_a_form_gains_no_defaults_that_something_waits_for(what: str) -> None:
    def prepare(document: pikepdf.Pdf) -> None:
        text = {**_WAITING, **_DRAWN_BY_THEMSELVES}[what]
        there = [document.make_indirect(pikepdf.Object.parse(text))] if text else []
        if what == "a note with its window":
            window = pikepdf.Dictionary(
                Type=pikepdf.Name.Annot, Subtype=pikepdf.Name.Popup, Rect=pikepdf.Array([0, 0, 9, 9])
            )
            window.Parent = there[0]
            there.append(document.make_indirect(window))
        document.pages[0].obj.Annots = pikepdf.Array(there)
        fields = pikepdf.Array(there if what in _WAITING and what != "a comment" else [])
        document.Root.AcroForm = document.make_indirect(pikepdf.Dictionary(Fields=fields))

    tail = Tail(known_of(resealed(paper(text("I owe 1,000 EUR", 100, 700), prepare=prepare), "B-T")))
    font = tail.add(b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Name/Helv>>")
    tail.form.set(b"/DR", b"<</Font<</Helv %d 0 R>>>>" % font)
    tail.form.set(b"/DA", b"(/Helv 0 Tf 0 g)")
    add_signature(tail)
    assert accepted(tail.write().pdf) is (what in _DRAWN_BY_THEMSELVES)
