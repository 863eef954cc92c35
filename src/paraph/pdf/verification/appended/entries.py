"""What an update may change in the catalog and the trailer beside the form: long-term validation data, which it may add
to the document security store (ISO 32000-2, 12.8.4.3; ETSI EN 319 142-1 §5.4.2), and what a program states about
itself, none of which is drawn: its name and the time, a version of PDF that knows the signature, and extensions."""

import re
from collections.abc import Callable, Iterator
from io import StringIO
from typing import Any
from xml.etree import ElementTree

from cryptography import x509
from cryptography.x509 import ocsp

from paraph.pdf.structure.objects import Dictionary, PdfStream, Ref, Unsafe
from paraph.pdf.structure.signature_fields import text_of_string
from paraph.pdf.structure.unpacking import unpacked
from paraph.pdf.verification.appended.view import (
    NotPermitted,
    Update,
    appended_to,
    check_keys,
    check_same,
    is_plain,
    is_string,
    meaning,
)

_LISTS: dict[bytes, Callable[[bytes], object]] = {
    b"/Certs": x509.load_der_x509_certificate,
    b"/CRLs": x509.load_der_x509_crl,
    b"/OCSPs": ocsp.load_der_ocsp_response,
}
_LISTS_OF_ONE = {b"/Cert": b"/Certs", b"/CRL": b"/CRLs", b"/OCSP": b"/OCSPs"}
_STORE = frozenset({b"/Type", b"/VRI", *_LISTS})
_ONE = frozenset({b"/Type", b"/TU", *_LISTS_OF_ONE})
_STREAM = frozenset({b"/Length", b"/Filter"})
_FILTERS = (None, b"/FlateDecode", [b"/FlateDecode"])
_DIGEST = re.compile(rb"/[0-9A-F]{40}")
_WHAT = "the long-term validation data"
_LARGEST = 32 * 1024 * 1024  # bytes; the longest revocation lists have a few million
_VERSIONS = (*(f"/1.{number}".encode() for number in range(8)), b"/2.0")
_OF_THE_WRITER = frozenset({b"/ModDate", b"/Producer"})
_PREFIX = re.compile(rb"/[A-Za-z0-9_]{4}")
_EXTENSION = frozenset({b"/Type", b"/BaseVersion", b"/ExtensionLevel", b"/URL", b"/ExtensionRevision"})
_METADATA = frozenset({b"/Type", b"/Subtype", b"/Length", b"/Filter"})
_LARGEST_METADATA = 1 << 20
_RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
_XMP, _PDF = "{http://ns.adobe.com/xap/1.0/}", "{http://ns.adobe.com/pdf/1.3/}"
_INSTANCE = "{http://ns.adobe.com/xap/1.0/mm/}InstanceID"
_STATED_BY_WRITERS = {_XMP + "ModifyDate", _XMP + "MetadataDate", _XMP + "CreatorTool", _PDF + "Producer", _INSTANCE}
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_ABOUT = _RDF + "about"
_NO_PROPERTIES = (_ABOUT, _RDF + "parseType", _LANGUAGE)
_RESOURCE = _RDF + "resource"
_RDF_LISTS = (_RDF + "Alt", _RDF + "Bag", _RDF + "Seq")
_STRUCTURE = {*(_RDF + name for name in ("RDF", "Description", "li", "value")), *_RDF_LISTS}
_PREFIXES = {"rdf": _RDF, "x": "{adobe:ns:meta/}", "xml": "{http://www.w3.org/XML/1998/namespace}"}
_ODD = re.compile(r"<!|<\?(?!xpacket[\t\n\r ]|xml[\t\n\r ]|adobe-xap-filters )")


def check_store(update: Update, old: Any, new: Any) -> bool:
    """Return whether data was added to /DSS; raise :class:`NotPermitted` for anything else."""
    before, after = update.was(old), update.now(new)
    if after is None and before is None:
        return False
    earlier = before if isinstance(before, dict) else {}
    if not isinstance(after, dict):
        raise NotPermitted(f"{_WHAT} is no longer there")
    if meaning(after) == meaning(before) and not any(update.changed(value) for value in after.values()):
        return False
    check_keys(_WHAT, after, _STORE | earlier.keys())
    _check_type(earlier, after, b"/DSS")
    for key in earlier.keys() - _STORE:
        if meaning(earlier[key]) != meaning(after.get(key)):
            raise NotPermitted(f"{_WHAT} has another {key.decode('latin-1')}")
    added = [_check_list(update, key, earlier.get(key), after.get(key)) for key in _LISTS]
    return _check_entries(update, earlier, after) or any(added)


def _check_list(update: Update, key: bytes, old: Any, new: Any) -> bool:
    if new is None and old is None:
        return False
    if update.lenient:
        items = [item for item in update.now(new) or () if item not in (update.was(old) or ())]
    else:
        items = appended_to(_WHAT, update.was(old), update.now(new))
    for item in items:
        _check_item(update, key, item)
    return bool(items)


def _check_item(update: Update, key: bytes, item: Any) -> None:
    stream = update.stream(item, "an item of the long-term validation data")
    check_keys("an item of the long-term validation data", stream.dictionary, _STREAM)
    if stream.dictionary.get(b"/Filter") not in _FILTERS:
        raise NotPermitted("an item of the long-term validation data is packed in an unusual way")
    try:
        _LISTS[key](unpacked(stream, _LARGEST, complete=True))
    except (Unsafe, ValueError, TypeError) as error:
        raise NotPermitted(f"an item among {key[1:].decode()} is none") from error


def _check_entries(update: Update, earlier: Dictionary, after: Dictionary) -> bool:
    """Check the data that is kept for each signature, under the digest of the signature's value."""
    old, new = update.was(earlier.get(b"/VRI")), update.now(after.get(b"/VRI"))
    if new is None and old is None:
        return False
    before = old if isinstance(old, dict) else {}
    if not isinstance(new, dict) or not (update.lenient or before.keys() <= new.keys()):
        raise NotPermitted(f"{_WHAT} no longer has what it had")
    in_store = {key: [item for item in update.now(after.get(key)) or () if type(item) is Ref] for key in _LISTS}
    _check_type(before, new, b"/VRI")
    added = [_check_entry(update, key, before.get(key), new[key], in_store) for key in new if key != b"/Type"]
    for draft in [ref for ref in update.left_over() if update.is_new(ref) and _is_by_signature(update, ref)]:
        for key, entry in update.dictionary(draft, _WHAT).items():  # some programs leave the data of each step behind
            if key != b"/Type":
                _check_entry(update, key, None, entry, in_store)
    for draft in [ref for ref in update.left_over() if _is_list(update, ref)]:
        update.account(draft)
    return any(added)


def _is_list(update: Update, ref: Ref) -> bool:
    """Return whether a new object lists nothing but new objects that are accounted for."""
    value = update.revision.objects[ref]
    return (
        update.is_new(ref)
        and isinstance(value, list)
        and all(update.is_new(item) and update.is_accounted(item) for item in value)
    )


def _is_by_signature(update: Update, ref: Ref) -> bool:
    value = update.revision.objects[ref]
    return isinstance(value, dict) and value.get(b"/Type") == b"/VRI" and not value.keys() & _ONE - {b"/Type"}


def _check_entry(update: Update, key: bytes, old: Any, new: Any, in_store: dict[bytes, list[Ref]]) -> bool:
    was, entry = update.was(old), update.now(new)
    if meaning(was) == meaning(entry):
        return False
    if not _DIGEST.fullmatch(key) or not isinstance(entry, dict):
        raise NotPermitted(f"{_WHAT} is kept under something else than a digest")
    check_keys(_WHAT, entry, _ONE)
    _check_type(was if isinstance(was, dict) else {}, entry, b"/VRI")
    if b"/TU" in entry and not is_string(entry[b"/TU"]):
        raise NotPermitted(f"{_WHAT} has a time that is none")
    for name, store_list in _LISTS_OF_ONE.items():
        for item in _items(update.now(entry.get(name))):
            if item not in in_store[store_list]:
                _check_item(update, store_list, item)
    return True


def _check_type(old: Dictionary, new: Dictionary, expected: bytes) -> None:
    if new.get(b"/Type") not in (None, expected, old.get(b"/Type")):
        raise NotPermitted(f"{_WHAT} says that it is something else")


def _items(value: Any) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise NotPermitted(f"{_WHAT} of one signature is no list")
    return value


def check_text(update: Update, what: str, old: Any, new: Any) -> None:
    """Raise :class:`NotPermitted` unless a value stays as it is, or stays a string that says the same."""
    before = update.was(old)
    if old != new and not (is_string(before) and is_string(new) and text_of_string(before) == text_of_string(new)):
        raise NotPermitted(f"{what} is another")


def check_version(update: Update, old: Any, new: Any) -> None:
    """Raise :class:`NotPermitted` for a version of PDF that is lower or unknown, or stands elsewhere."""
    before = update.was(old)
    earlier = b"/" + update.before.data[5:8] if before is None else before
    if old != new and not (
        earlier in _VERSIONS and new in _VERSIONS and _VERSIONS.index(earlier) <= _VERSIONS.index(new)
    ):
        raise NotPermitted("the file states another version of PDF")


def check_extensions(update: Update, old: Any, new: Any) -> None:
    """Raise :class:`NotPermitted` unless extensions were at most added to those that the file declares."""
    before, after = update.was(old), update.now(new)
    earlier = before if isinstance(before, dict) else {}
    if meaning(after) == meaning(before):
        return
    added = {key: after[key] for key in after.keys() - earlier.keys()} if isinstance(after, dict) else {b"": None}
    if not all(_PREFIX.fullmatch(key) and _is_extension(value) for key, value in added.items()):
        raise NotPermitted("the declared extensions are none")
    check_same("the list of extensions", earlier, after, frozenset(added))


def _is_extension(value: Any) -> bool:
    """Return whether a value is a developer extensions dictionary, or a list of them (ISO 32000-2, 7.12)."""
    if isinstance(value, list):
        return all(isinstance(item, dict) and _is_extension(item) for item in value)
    return isinstance(value, dict) and value.keys() <= _EXTENSION and is_plain(value)


def check_information(update: Update, old: Any, new: Any) -> None:
    """Raise :class:`NotPermitted` if the trailer's information changed beyond the program and the time of change."""
    before, after = update.was(old), update.now(new)
    if after is None and not isinstance(before, dict):
        return
    if not isinstance(after, dict):
        raise NotPermitted("the properties of the file are gone")
    stated = before if isinstance(before, dict) else {}
    check_keys("the list of the file's properties", after, _OF_THE_WRITER | stated.keys())
    for key in (stated.keys() | after.keys()) - _OF_THE_WRITER:
        check_text(update, f"the property {key.decode('latin-1')}", stated.get(key), after.get(key))
    if not all(is_string(after[key]) or after[key] == stated.get(key, b"") for key in _OF_THE_WRITER & after.keys()):
        raise NotPermitted("what the file says of its last change is no text")


def check_metadata(update: Update, old: Any, new: Any) -> None:
    """Raise :class:`NotPermitted` if the metadata (ISO 16684-1) changed beyond what programs say of themselves."""
    if old == new and not update.changed(new):
        return
    before, after = update.was(old), update.now(new)
    if not isinstance(after, PdfStream):
        raise NotPermitted("the metadata is no stream")
    check_keys("the metadata", after.dictionary, _METADATA)
    kind = (after.dictionary.get(b"/Type"), after.dictionary.get(b"/Subtype"))
    if kind != (b"/Metadata", b"/XML") or after.dictionary.get(b"/Filter") not in (None, b"/FlateDecode"):
        raise NotPermitted("the metadata is of another kind")
    if before is not None:
        if not isinstance(before, PdfStream) or before.dictionary.get(b"/Subtype") != b"/XML":
            raise NotPermitted("the metadata was something else")
        check_keys("the metadata", before.dictionary, _METADATA | {b"/DecodeParms"})
    if stated_properties(before) != stated_properties(after):
        raise NotPermitted("the metadata says something else")


def stated_properties(stream: PdfStream | None) -> list[tuple[str, Any]]:
    """Return what metadata says, in order of the properties, without what programs say about themselves. A property
    that occurs twice counts twice: readers differ in which one they show."""
    if stream is None:
        return []
    try:
        text = unpacked(stream, _LARGEST_METADATA, complete=True).decode("utf-8-sig")
        if _ODD.search(text) or text.count("<?xpacket") > 2:
            raise NotPermitted("the metadata has comments, declarations or instructions")
        packet = _parsed(text)
    except (Unsafe, ElementTree.ParseError, ValueError) as error:
        raise NotPermitted("the metadata cannot be read") from error
    stated = [(name, value) for name, value in _properties(packet) if name not in _STATED_BY_WRITERS]
    return sorted(((name, value.strip() if isinstance(value, str) else value) for name, value in stated), key=repr)


def _parsed(text: str) -> ElementTree.Element:
    """Parse a packet. Raise :class:`NotPermitted` unless it is written as programs write it, so that all readers find
    the same properties: some go by prefixes, by the place of an element or by the first list."""
    bound: dict[str, str] = {}
    packet: ElementTree.Element | None = None
    event: str
    found: Any
    for event, found in ElementTree.iterparse(StringIO(text), ("start-ns", "end")):  # noqa: S314  nothing is declared
        if event == "end":
            packet = found  # the last to end is the outermost
            continue
        prefix, namespace = str(found[0]), f"{{{found[1]}}}"
        is_usual = _PREFIXES.get(prefix, namespace) == namespace and bound.setdefault(prefix, namespace) == namespace
        if not prefix or not is_usual or (namespace == _RDF and prefix != "rdf"):
            raise NotPermitted("the metadata has unusual namespaces")
    if packet is None:
        raise NotPermitted("the metadata is empty")
    roots = [packet] if packet.tag == _RDF + "RDF" else list(packet) if packet.tag == _PREFIXES["x"] + "xmpmeta" else []
    if [each.tag for each in roots] != [_RDF + "RDF"] or not all(map(_is_usual, roots[0].iter())):
        raise NotPermitted("the metadata is not written as programs write it")
    described = {(each.tag, each.get(_ABOUT, "")) for each in roots[0]}
    if len(described) > 1 or any(tag != _RDF + "Description" for tag, _ in described):
        raise NotPermitted("the metadata describes more than the file")
    return packet


def _is_usual(element: ElementTree.Element) -> bool:
    """Return whether an element of RDF holds either text or elements, and a list nothing but items."""
    text = "".join([element.text or "", *(child.tail or "" for child in element)]).strip()
    tags = [child.tag for child in element]
    is_list = element.tag in _RDF_LISTS
    return (
        not (text and (tags or is_list))
        and all((tag == _RDF + "li") is is_list for tag in tags)
        and not (element.tag not in _STRUCTURE and element.tag.startswith(_RDF))
        and element.get(_RDF + "parseType", "Resource") == "Resource"
        and (element.tag != _RDF + "RDF" or not element.attrib)
        and not (set(tags) & set(_RDF_LISTS) and len(tags) > 1)
    )


def _properties(packet: ElementTree.Element) -> Iterator[tuple[str, Any]]:
    for description in (each for root in packet.iter(_RDF + "RDF") for each in root):
        yield from _struct(description)


def _struct(element: ElementTree.Element) -> Iterator[tuple[str, Any]]:
    """Yield the properties of a resource, which may stand in attributes, in elements or in a description of it."""
    yield from ((name, value) for name, value in element.attrib.items() if name not in _NO_PROPERTIES)
    for child in element:
        if child.tag == _RDF + "Description":
            yield from _struct(child)
        else:
            yield child.tag, _value(child)


def _value(element: ElementTree.Element) -> Any:
    properties = sorted(_struct(element), key=repr)
    if properties and all(child.tag in _RDF_LISTS for child in element) and len(properties) == len(element):
        return [(each.tag, [(item.get(_LANGUAGE, "x-default"), _value(item)) for item in each]) for each in element]
    if [name for name, _ in properties] == [_RESOURCE]:  # an address may stand in an attribute or be the text
        return properties[0][1]
    return properties or (element.text or "").strip()
