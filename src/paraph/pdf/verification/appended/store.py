"""Long-term validation data that an update may add to the document security store (ISO 32000-2, 12.8.4.3;
ETSI EN 319 142-1 §5.4.2): certificates, revocation lists and status answers, and nothing that is not one."""

import re
from collections.abc import Callable
from typing import Any

from cryptography import x509
from cryptography.x509 import ocsp

from paraph.pdf.structure.objects import Dictionary, Ref, Unsafe
from paraph.pdf.structure.unpacking import unpacked
from paraph.pdf.verification.appended.view import NotPermitted, Update, appended_to, check_keys, is_string, meaning

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
    """Check the data that is kept by signature, each under the digest of its value."""
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
        for key, entry in update.dictionary(draft, _WHAT).items():  # some programs leave theirs of each step behind
            if key != b"/Type":
                _check_entry(update, key, None, entry, in_store)
    for draft in [ref for ref in update.left_over() if _is_list(update, ref)]:
        update.account(draft)
    return any(added)


def _is_list(update: Update, ref: Ref) -> bool:
    """Return whether an object is a list of nothing but new data that is kept."""
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
