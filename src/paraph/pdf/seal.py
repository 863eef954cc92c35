"""Sealing: marks, overlay, long-term data, signature field and PAdES seal in one incremental revision; an archive
timestamp adds one more (ETSI EN 319 142-1).

The bytes of the file stay the prefix of the result where it can be extended as it is written, or with its objects found
by search; else it is rewritten first (:mod:`paraph.pdf.preparation`). :attr:`SealedPdf.method` tells which it was.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from paraph.kernel.errors import DomainError
from paraph.keys import SigningKey
from paraph.pdf import field
from paraph.pdf.certificate import without_root
from paraph.pdf.cms_template import template
from paraph.pdf.draw import draw
from paraph.pdf.errors import SealError
from paraph.pdf.following import Following
from paraph.pdf.long_term import LongTermData, Revoked
from paraph.pdf.marks import Mark, Overlay
from paraph.pdf.normalise import Unreadable
from paraph.pdf.objects import CONFUSED, Unsafe
from paraph.pdf.pages import pages
from paraph.pdf.preparation import Method, forms
from paraph.pdf.prolong import Prolonged, prolong
from paraph.pdf.purpose import Purpose
from paraph.pdf.reader import Reader
from paraph.pdf.revision import Revision, Written
from paraph.pdf.security_store import extend_store
from paraph.pdf.selfcheck import check
from paraph.pdf.selfcheck_drawings import Placed
from paraph.pdf.statuses import Found, LongTerm
from paraph.pdf.timestamp import Timestamp, Timestamping, stamp_time
from paraph.pdf.verification import Level

__all__ = ["Mark", "Overlay", "SealError", "SealedPdf", "seal"]

_TOKEN_SIZE = 8192
_TOKEN_MARGIN = 512
_TRIES = 3
_NOTHING = Found(LongTermData())


@dataclass(frozen=True)
class SealedPdf:
    """A sealed file that was re-opened and validated, and what the journal says of it (specification 4.11)."""

    content: bytes
    sha256: bytes
    signing_algorithm: str
    kms_key_id: str
    kms_request_id: str
    timestamp: Timestamp | None
    timestamp_failures: list[str]
    method: Method
    """What had to be done to the file before it could be extended; it is the prefix of the result unless that is
    ``normalised``."""
    level: Level
    """The PAdES level that the file has, to whoever trusts the roots of its seal and timestamps."""
    level_reasons: tuple[str, ...] = ()
    """Why it is lower than the one asked for; a sentence each."""
    archive: Timestamp | None = None
    """The token of the archive timestamp, at B-LTA."""
    certificates: tuple[bytes, ...] = ()
    """DER of the key's certificate and those above it."""


@dataclass(frozen=True)
class _Order:
    key: SigningKey
    purpose: Purpose
    timestamping: Timestamping | None
    long_term: LongTerm | None
    appearances: bytes
    marks: Sequence[Mark]
    page_overlay: Overlay | None
    reason: str
    name: str
    at: datetime

    @property
    def key_chain(self) -> tuple[bytes, ...]:
        return (self.key.certificate, *self.key.chain)


def seal(
    pdf: bytes,
    *,
    key: SigningKey,
    purpose: Purpose,
    timestamping: Timestamping | None,
    long_term: LongTerm | None = None,
    appearances: bytes = b"",
    marks: Sequence[Mark] = (),
    page_overlay: Overlay | None = None,
    reason: str = "",
    name: str = "",
    at: datetime,
) -> SealedPdf:
    """Draws the marks and the overlay, seals, and validates the result.

    ``purpose`` stands in the seal: whoever seals says what for, and a verifier of proofs takes nobody else's word.
    ``appearances`` is a PDF whose pages are the pictures that marks and overlay name. Without ``timestamping``, or
    without an answer from its authorities, the seal is B-B and ``timestamp`` None; without ``long_term``, or where a
    status cannot be had, B-T. Earlier signatures of the file stay valid: marks then live in the annotations of the
    seal's own field. Raises :class:`SealError` with one sentence, and ``DomainError("configuration", …)`` when the
    key's certificate expired or was revoked.
    """
    if timestamping and long_term:
        timestamping = replace(timestamping, refuse=long_term.refuse)
    order = _Order(key, purpose, timestamping, long_term, appearances, marks, page_overlay, reason, name, at)
    try:
        return _first_that_works(pdf, order)
    except Unreadable as error:
        raise SealError(str(error)) from error
    except Unsafe as error:
        raise SealError("The PDF cannot be sealed: its structure is damaged.") from error
    except RecursionError as error:
        raise SealError("The PDF cannot be sealed: its structure is nested too deeply.") from error


def _first_that_works(pdf: bytes, order: _Order) -> SealedPdf:
    for method, form in forms(pdf):
        try:
            return _attempt(form, order, method)
        except Unsafe as error:
            unsafe = error
    raise unsafe


def _attempt(pdf: bytes, order: _Order, method: Method) -> SealedPdf:
    """Again where the timestamp needs more room, or statuses of an authority that nobody expected to answer."""
    token_size = _TOKEN_SIZE if order.timestamping else 0
    for _ in range(_TRIES):
        try:
            return _sealed(Reader(pdf), order, method, token_size)
        except _Again as again:
            token_size = max(token_size, again.token_size + _TOKEN_MARGIN)
        except Revoked as error:
            raise DomainError("configuration", f"The sealing key must not be used: {error}.") from error
        except CONFUSED as error:
            raise Unsafe("the file confuses the reader") from error
    raise SealError("The timestamp authority answers differently each time.")


class _Again(Exception):
    def __init__(self, token_size: int) -> None:
        self.token_size = token_size


@dataclass(frozen=True)
class _Draft:
    """The revision of the seal. ``hash`` is SHA-256 of the file with it, ``original_hash`` of the upload."""

    text: bytearray
    hash: "hashlib._Hash"
    original_hash: "hashlib._Hash"
    kms_request_id: str
    timestamp: Timestamp | None
    failures: list[str]


def _sealed(reader: Reader, order: _Order, method: Method, token_size: int) -> SealedPdf:
    found = order.long_term.expected(order.key_chain) if order.long_term and order.timestamping else _NOTHING
    prepared = _prepared(reader, order, found, token_size)
    written = prepared.revision.write()
    draft = _signed(reader, written, order)
    long = prolong(
        Following(prepared.revision, written),
        draft.hash,
        seal_timestamp=draft.timestamp,
        key_chain=order.key_chain,
        long_term=order.long_term,
        timestamping=order.timestamping,
        found=found,
        names=prepared.names,
    )
    if long is None:
        raise _Again(0)
    content = reader.data + long.text
    _check(reader, content, draft, long, order, placed=prepared.placed)
    return SealedPdf(
        content=content,
        sha256=long.hash.digest(),
        signing_algorithm=order.key.algorithm,
        kms_key_id=order.key.key_id,
        kms_request_id=draft.kms_request_id,
        timestamp=draft.timestamp,
        timestamp_failures=draft.failures,
        method=method,
        level=long.level,
        level_reasons=long.reasons,
        archive=long.archive,
        certificates=order.key_chain,
    )


@dataclass(frozen=True)
class _Prepared:
    """The revision of the seal with everything but its signature's value; ``names``: of the fields before it."""

    revision: Revision
    names: frozenset[bytes]
    placed: Sequence[Placed]


def _prepared(reader: Reader, order: _Order, found: Found, token_size: int) -> _Prepared:
    revision = Revision(reader)
    standing = field.standing(revision)
    if standing.changes_forbidden:
        raise SealError("The PDF is certified and forbids any change, so it cannot be sealed.")
    drawn = draw(revision, order.appearances, order.marks, order.page_overlay, signed=standing.signatures > 0)
    first = next(pages(reader), None)
    if first is None:
        raise SealError("The PDF has no pages.")
    if found.data:
        extend_store(revision, found.data)
    signature = revision.reserve()
    widgets = drawn.widgets or [field.Widget(first, (0, 0, 0, 0), None)]
    field.add_field(revision, signature, standing.field_names, widgets)
    dictionary = field.signature_dictionary(order.at, order.reason, order.name)
    revision.put_signature(signature, dictionary, template(order.key).size(order.purpose, token_size))
    return _Prepared(revision, standing.field_names, drawn.placed)


def _signed(reader: Reader, written: Written, order: _Order) -> _Draft:
    pdf = reader.data
    start, end = (place - len(pdf) for place in written.hole)
    original_hash = hashlib.sha256(pdf)
    document = original_hash.copy()
    with memoryview(written.text) as text:
        document.update(text[:start])
        document.update(text[end:])
    cms = template(order.key)
    attributes = cms.signed_attributes(document.digest(), order.purpose)
    signature = order.key.sign(attributes)
    stamp, failures = None, list[str]()
    if order.timestamping is not None:
        stamp, failures = stamp_time(hashlib.sha256(signature.value).digest(), order.timestamping)
    token = stamp.token if stamp else b""
    contents = cms.assemble(attributes, signature.value, token).hex().encode()
    if len(contents) > end - start - 2:
        raise _Again(len(token))
    written.text[start + 1 : start + 1 + len(contents)] = contents
    whole = original_hash.copy()
    whole.update(written.text)
    return _Draft(written.text, whole, original_hash, signature.request_id, stamp, failures)


def _check(
    reader: Reader, content: bytes, draft: _Draft, long: Prolonged, order: _Order, *, placed: Sequence[Placed]
) -> None:
    check(
        content,
        reader.data,
        original_hash=draft.original_hash,
        original_start=reader.crossreference.start,
        certificates=without_root(order.key.certificate, order.key.chain),
        purpose=order.purpose,
        token=draft.timestamp.token if draft.timestamp else b"",
        placed=placed,
        sealed_size=reader.size + len(draft.text),
        archive_token=long.archive.token if long.archive else b"",
        statuses=long.data,
    )
