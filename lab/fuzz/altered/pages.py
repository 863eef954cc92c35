"""Pages, what they inherit, what they show, and what the catalog says of all of them."""

import re
from collections.abc import Callable
from functools import partial
from random import Random

from lab.fuzz.altered.covers import add_signature
from lab.fuzz.altered.known import NotHere, Stream, number_of
from lab.fuzz.altered.spelling import opaque
from lab.fuzz.altered.tail import Tail
from lab.fuzz.altered.trailers import forged_catalog, forged_page
from paraph.pdf.structure.objects import PdfStream, Ref
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.unpacking import unpacked

Alter = Callable[[Tail, Random], None]
_SCRIPT = b"<</S/JavaScript/JS(this.getField\\('sum'\\).value = '9,000,000')>>"


def _of_page(tail: Tail, _chance: Random, key: bytes, value: bytes) -> None:
    tail.page.set(key, value)


def _of_parent(tail: Tail, _chance: Random, key: bytes, value: bytes) -> None:
    """Set an entry that pages inherit."""
    tail.change(_parent(tail)).set(key, value)


def _parent(tail: Tail) -> int:
    return number_of(tail.dictionaries[tail.known.pages[0]].get(b"/Parent"))


def _without(tail: Tail, _chance: Random, key: bytes) -> None:
    if not tail.page.get(key):
        raise NotHere(key)
    if key == b"/Annots":
        tail.arrays[f"annots {tail.known.pages[0]}"].clear()
    tail.page.drop(key)


def _of_catalog(tail: Tail, _chance: Random, key: bytes, value: bytes) -> None:
    tail.root.set(key, value)


def _not_in_catalog(tail: Tail, _chance: Random, key: bytes) -> None:
    if not tail.root.get(key):
        raise NotHere(key)
    tail.root.drop(key)


def _contents(tail: Tail, _chance: Random, how: str) -> None:
    forged = b"%d 0 R" % tail.add(tail.known.forged)
    old = tail.page.get(b"/Contents").strip(b"[]")
    over = b"%d 0 R" % tail.add(Stream(b"", b"q 1 1 1 rg 90 690 300 40 re f Q"))
    made = {
        "replaced": forged,
        "in an array": b"[%b]" % forged,
        "added": b"[%b %b]" % (old, over),
        "before": b"[%b %b]" % (over, old),
        "an array by reference": b"%d 0 R" % tail.add(b"[%b]" % forged),
        "an empty array": b"[]",
        "direct": b"<<>>",
    }
    tail.page.set(b"/Contents", made[how])


def _overwritten(tail: Tail, _chance: Random) -> None:
    tail.put(tail.known.amount, tail.known.forged)


def _tree(tail: Tail, _chance: Random, how: str) -> None:
    parent = tail.change(_parent(tail))
    pages = [b"%d 0 R" % number for number in tail.known.pages]
    if how == "without the last":
        pages = pages[:-1] or pages
    elif how == "reversed":
        pages.reverse()
    elif how == "one twice":
        pages.append(pages[0])
    elif how == "one more":
        pages.append(forged_page(tail))
    elif how == "another first":
        pages[0] = forged_page(tail)
    elif how == "in itself":
        pages.append(b"%d 0 R" % _parent(tail))
    parent.set(b"/Kids", b"[" + b" ".join(pages) + b"]")
    parent.set(b"/Count", b"%d" % len(pages))


def _count(tail: Tail, _chance: Random, count: bytes) -> None:
    tail.change(_parent(tail)).set(b"/Count", count)


def _other_tree(tail: Tail, _chance: Random) -> None:
    root = forged_catalog(tail)
    body = tail.objects[number_of(root)]
    assert isinstance(body, bytes)
    tail.put(tail.known.root, body)


def _annotation(tail: Tail, _chance: Random, entries: bytes, *, shown: bool = True) -> None:
    looks = b"/AP<</N %d 0 R>>" % opaque(tail) if shown else b""
    tail.annotate(tail.add(b"<</Type/Annot/F 4/Rect[90 690 300 720]%b%b>>" % (entries, looks)))


def _direct_annotation(tail: Tail, _chance: Random) -> None:
    looks = b"<</Type/Annot/Subtype/Stamp/F 4/Rect[90 690 300 720]/AP<</N %d 0 R>>>>" % opaque(tail)
    tail.page.set(b"/Annots", b"[" + b" ".join([*tail.arrays[f"annots {tail.known.pages[0]}"], looks]) + b"]")


def _no_annotations(tail: Tail, _chance: Random) -> None:
    tail.arrays[f"annots {tail.known.pages[0]}"].clear()
    tail.page.set(b"/Annots", b"[]")


def _font(tail: Tail, _chance: Random, body: bytes) -> None:
    """Overwrite the font that the pages use."""
    for number, pairs in tail.known.objects.items():
        if pairs.get(b"/Type") == b"/Font":
            tail.put(number, body)
            return
    tail.page.set(b"/Resources", b"<</Font<</F1 %d 0 R>>>>" % tail.add(body))


def _layers(tail: Tail, _chance: Random, value: bytes) -> None:
    layer = next((number for number, pairs in tail.known.objects.items() if pairs.get(b"/Type") == b"/OCG"), 0)
    number = layer or tail.add(b"<</Type/OCG/Name(Terms)>>")
    tail.root.set(b"/OCProperties", value.replace(b"LAYER", b"%d 0 R" % number))
    if not layer:
        drawn = b"/OC/P BDC " + tail.known.forged.data + b" EMC"
        tail.put(tail.known.amount, Stream(b"", drawn))


def _layer_usage(tail: Tail, _chance: Random) -> None:
    for number, pairs in tail.known.objects.items():
        if pairs.get(b"/Type") == b"/OCG":
            tail.change(number).set(b"/Usage", b"<</Print<</PrintState/OFF>>/View<</ViewState/OFF>>>>")
            return
    _layers(tail, _chance, b"<</OCGs[LAYER]/D<</OFF[LAYER]>>>>")


def _second_page_content(tail: Tail, _chance: Random) -> None:
    page = tail.change(tail.known.pages[-1])
    drawn = b"BT /F1 12 Tf 100 700 Td (This is binding) Tj ET"
    page.set(b"/Contents", b"%d 0 R" % tail.add(Stream(b"", drawn)))


def _thumbnail(tail: Tail, _chance: Random) -> None:
    image = b"/Width 1/Height 1/BitsPerComponent 8/ColorSpace/DeviceGray"
    tail.page.set(b"/Thumb", b"%d 0 R" % tail.add(Stream(image, b"\0")))


_PAGE: dict[str, tuple[bytes, bytes]] = {
    "/Rotate": (b"/Rotate", b"90"),
    "/Rotate 360": (b"/Rotate", b"360"),
    "/MediaBox": (b"/MediaBox", b"[0 710 595 842]"),
    "/CropBox": (b"/CropBox", b"[0 710 595 842]"),
    "/UserUnit": (b"/UserUnit", b"2"),
    "/Resources": (b"/Resources", b"<<>>"),
    "/BleedBox": (b"/BleedBox", b"[0 0 1 1]"),
    "/TrimBox": (b"/TrimBox", b"[0 0 1 1]"),
    "/ArtBox": (b"/ArtBox", b"[0 0 1 1]"),
    "/Group": (b"/Group", b"<</S/Transparency/CS/DeviceCMYK/I true/K true>>"),
    "/AA": (b"/AA", b"<</O %b>>" % _SCRIPT),
    "/Trans": (b"/Trans", b"<</S/Dissolve>>"),
    "/Dur": (b"/Dur", b"1"),
    "/Metadata": (b"/Metadata", b"1 0 R"),
    "/PieceInfo": (b"/PieceInfo", b"<</A<</LastModified(D:2025)/Private(x)>>>>"),
    "/LastModified": (b"/LastModified", b"(D:20250701120000Z)"),
    "/StructParents": (b"/StructParents", b"1"),
    "/Tabs": (b"/Tabs", b"/S"),
    "/VP": (b"/VP", b"[]"),
    "/AF": (b"/AF", b"[]"),
    "/BoxColorInfo": (b"/BoxColorInfo", b"<<>>"),
    "/Parent": (b"/Parent", b"1 0 R"),
    "/Type": (b"/Type", b"/Pages"),
    "/TemplateInstantiated": (b"/TemplateInstantiated", b"/x"),
    "an unknown key": (b"/Odd", b"(value)"),
}
_CATALOG: dict[str, tuple[bytes, bytes]] = {
    "/OpenAction": (b"/OpenAction", _SCRIPT),
    "/OpenAction to a page": (b"/OpenAction", b"[1 /Fit]"),
    "/AA": (b"/AA", b"<</WC %b/DP %b>>" % (_SCRIPT, _SCRIPT)),
    "/Names": (b"/Names", b"<</JavaScript<</Names[(a) %b]>>>>" % _SCRIPT),
    "/Names with files": (b"/Names", b"<</EmbeddedFiles<</Names[(a) <</Type/Filespec/F(a)>>]>>>>"),
    "/Dests": (b"/Dests", b"<</a[1 /Fit]>>"),
    "/AF": (b"/AF", b"[<</Type/Filespec/F(a)>>]"),
    "/Perms": (b"/Perms", b"<</DocMDP 1 0 R>>"),
    "/Perms with usage rights": (b"/Perms", b"<</UR3 1 0 R>>"),
    "/ViewerPreferences": (b"/ViewerPreferences", b"<</HideToolbar true/PrintScaling/None>>"),
    "/PageLayout": (b"/PageLayout", b"/TwoColumnLeft"),
    "/PageMode": (b"/PageMode", b"/FullScreen"),
    "/PageLabels": (b"/PageLabels", b"<</Nums[0<</S/r>>]>>"),
    "/Outlines": (b"/Outlines", b"<</Type/Outlines>>"),
    "/Threads": (b"/Threads", b"[]"),
    "/URI": (b"/URI", b"<</Base(https://example.com/)>>"),
    "/Metadata": (b"/Metadata", b"1 0 R"),
    "/StructTreeRoot": (b"/StructTreeRoot", b"<</Type/StructTreeRoot>>"),
    "/MarkInfo": (b"/MarkInfo", b"<</Marked true>>"),
    "/Lang": (b"/Lang", b"(de)"),
    "/Version 1.4": (b"/Version", b"/1.4"),
    "/Version 2.0": (b"/Version", b"/2.0"),
    "/Version 9.9": (b"/Version", b"/9.9"),
    "/Collection": (b"/Collection", b"<</View/T>>"),
    "/NeedsRendering": (b"/NeedsRendering", b"true"),
    "/Requirements": (b"/Requirements", b"[<</Type/Requirement/S/EnableJavaScripts>>]"),
    "/Legal": (b"/Legal", b"<<>>"),
    "/OutputIntents": (b"/OutputIntents", b"[]"),
    "/SpiderInfo": (b"/SpiderInfo", b"<<>>"),
    "/PieceInfo": (b"/PieceInfo", b"<</A<</LastModified(D:2025)>>>>"),
    "/Extensions": (b"/Extensions", b"<</ADBE<</BaseVersion/1.7/ExtensionLevel 8>>>>"),
    "/Extensions with an odd one": (b"/Extensions", b"<</ESIC<</BaseVersion/9.9/ExtensionLevel 99/URL(x)>>>>"),
    "/DPartRoot": (b"/DPartRoot", b"<<>>"),
    "/Type": (b"/Type", b"/Pages"),
    "an unknown key": (b"/Odd", b"(value)"),
}
_INHERITED: dict[str, tuple[bytes, bytes]] = {
    "/Resources": (b"/Resources", b"<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/ZapfDingbats>>>>>>"),
    "/MediaBox": (b"/MediaBox", b"[0 710 595 842]"),
    "/CropBox": (b"/CropBox", b"[0 710 595 842]"),
    "/Rotate": (b"/Rotate", b"90"),
    "/Type": (b"/Type", b"/Page"),
    "an unknown key": (b"/Odd", b"1"),
}
_FONTS = {
    "other letters": b"<</Type/Font/Subtype/Type1/BaseFont/ZapfDingbats>>",
    "letters that differ": b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding<</Differences[49/nine]>>>>",
    "no font": b"null",
    "a font of glyphs": b"<</Type/Font/Subtype/Type3/FontBBox[0 0 9 9]/FontMatrix[1 0 0 1 0 0]/FirstChar 0/LastChar 0"
    b"/Widths[9]/CharProcs<<>>/Encoding<</Differences[]>>>>",
    "widths of nothing": b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/FirstChar 32/LastChar 33/Widths[0 0]>>",
}
_LAYERS = {
    "off": b"<</OCGs[LAYER]/D<</OFF[LAYER]>>>>",
    "off at first": b"<</OCGs[LAYER]/D<</BaseState/OFF>>>>",
    "off when printed": b"<</OCGs[LAYER]/D<</AS[<</Event/Print/Category[/Print]/OCGs[LAYER]>>]>>>>",
    "another configuration": b"<</OCGs[LAYER]/D<<>>/Configs[<</OFF[LAYER]>>]>>",
    "nothing": b"null",
}
_ANNOTATIONS = {
    "a stamp": (b"/Subtype/Stamp", True),
    "a free text": (b"/Subtype/FreeText/DA(/Helv 12 Tf)/Contents(I owe 9,000,000)", True),
    "a free text without a picture": (b"/Subtype/FreeText/DA(/Helv 12 Tf)/Contents(I owe 9,000,000)", False),
    "a square": (b"/Subtype/Square/IC[1 1 1]/C[1 1 1]", False),
    "a link with a border": (b"/Subtype/Link/Border[0 0 40]/C[1 1 1]", False),
    "a highlight": (b"/Subtype/Highlight/QuadPoints[90 720 300 720 90 690 300 690]/C[0 0 0]", False),
    "a note": (b"/Subtype/Text/Contents(I owe 9,000,000)", False),
    "ink": (b"/Subtype/Ink/InkList[[90 700 300 700]]/C[0 0 0]/BS<</W 30>>", False),
    "a line": (b"/Subtype/Line/L[90 700 300 700]/C[1 1 1]/BS<</W 30>>", False),
    "a redaction": (b"/Subtype/Redact/IC[0 0 0]", True),
    "a widget": (b"/Subtype/Widget/MK<</BG[1 1 1]>>", True),
    "a watermark": (b"/Subtype/Watermark", True),
    "a popup": (b"/Subtype/Popup/Open true", True),
    "an unknown kind": (b"/Subtype/Odd", True),
    "no kind": (b"", True),
    "a hidden stamp": (b"/Subtype/Stamp/F 2", True),
    "a stamp for print": (b"/Subtype/Stamp/F 36", True),
    "a 3D scene": (b"/Subtype/3D", True),
    "a file": (b"/Subtype/FileAttachment/FS<</Type/Filespec/F(a)>>", False),
}


def _metadata(tail: Tail, _chance: Random, pattern: bytes, changed: bytes) -> None:
    """Change the XMP metadata of the file, below a timestamp."""
    number = number_of(tail.root.get(b"/Metadata", b"0 0 R"))
    stream = PdfReader(tail.known.pdf).object(Ref(number))
    stated = unpacked(stream) if isinstance(stream, PdfStream) else b""
    if not re.search(pattern, stated, re.DOTALL):
        raise NotHere("metadata")
    tail.put(number, Stream(b"/Type/Metadata/Subtype/XML", re.sub(pattern, changed, stated, count=1, flags=re.DOTALL)))
    add_signature(tail)


_TITLE = rb"(<dc:title[ >].*?</dc:title>)"
_OTHER = rb"<dc:title><rdf:Alt><rdf:li xml:lang='x-default'>I owe 9,000,000</rdf:li></rdf:Alt></dc:title>"
_METADATA = {
    "another title": (_TITLE, _OTHER),
    "two titles, the other first": (_TITLE, _OTHER + rb"\1"),
    "two titles, the other last": (_TITLE, rb"\1" + _OTHER),
    "two lists in a title": (rb"(<dc:title[^>]*>)", rb"\1<rdf:Seq><rdf:li>I owe 9,000,000</rdf:li></rdf:Seq>"),
    "a title in another language": (rb"x-default", rb"de"),
    "no title": (_TITLE, rb""),
}

FREEDOMS: dict[str, Alter] = {
    **{f"the page: {name}": partial(_of_page, key=key, value=value) for name, (key, value) in _PAGE.items()},
    **{f"the catalog: {name}": partial(_of_catalog, key=key, value=value) for name, (key, value) in _CATALOG.items()},
    **{
        f"the page tree: {name}": partial(_of_parent, key=key, value=value) for name, (key, value) in _INHERITED.items()
    },
    **{
        f"metadata with {name}": partial(_metadata, pattern=pattern, changed=changed)
        for name, (pattern, changed) in _METADATA.items()
    },
    **{f"the font: {name}": partial(_font, body=body) for name, body in _FONTS.items()},
    **{f"layers: {name}": partial(_layers, value=value) for name, value in _LAYERS.items()},
    **{
        f"an annotation: {name}": partial(_annotation, entries=entries, shown=shown)
        for name, (entries, shown) in _ANNOTATIONS.items()
    },
    **{
        f"the content: {how}": partial(_contents, how=how)
        for how in ("replaced", "in an array", "added", "before", "an array by reference", "an empty array", "direct")
    },
    **{
        f"the pages: {how}": partial(_tree, how=how)
        for how in ("without the last", "reversed", "one twice", "one more", "another first", "in itself")
    },
    **{f"the count of pages: {count.decode()}": partial(_count, count=count) for count in (b"1", b"9", b"0", b"-2")},
    **{
        f"the page without {key.decode()}": partial(_without, key=key)
        for key in (b"/Resources", b"/Annots", b"/Parent", b"/Type", b"/Contents", b"/MediaBox")
    },
    **{
        f"the catalog without {key.decode()}": partial(_not_in_catalog, key=key)
        for key in (b"/DSS", b"/Pages", b"/Type", b"/Extensions", b"/OCProperties", b"/Names", b"/Metadata")
    },
    "the content overwritten": _overwritten,
    "another tree of pages": _other_tree,
    "a direct annotation": _direct_annotation,
    "no annotations": _no_annotations,
    "the layer's usage": _layer_usage,
    "the last page's content": _second_page_content,
    "the page: /Thumb": _thumbnail,
}
