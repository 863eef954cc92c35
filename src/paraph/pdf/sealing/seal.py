"""Sealing: marks, overlay, long-term data, signature field and PAdES seal in one incremental revision; an archive
timestamp adds one more (ETSI EN 319 142-1).

The bytes of the file stay the prefix of the result where it can be extended as it is written, or with its objects found
by search; else it is rewritten first (:mod:`paraph.pdf.structure.extendable_variants`). :attr:`SealedPdf.method` tells
which it was.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from paraph.kernel.errors import DomainError
from paraph.keys import SigningKey
from paraph.pdf.drawing.marks import Mark, Overlay
from paraph.pdf.errors import SealError
from paraph.pdf.pki.certificate import without_root
from paraph.pdf.pki.purpose import Purpose
from paraph.pdf.pki.revocation_data import LongTermData, Revoked
from paraph.pdf.pki.statuses import Found, LongTerm
from paraph.pdf.report import Level
from paraph.pdf.sealing.augment import Prolonged, prolong
from paraph.pdf.sealing.cms_template import template
from paraph.pdf.sealing.draft import Draft, Expected, Holed, Wanted
from paraph.pdf.sealing.draft_here import drafts_here
from paraph.pdf.structure.extendable_variants import Method
from paraph.pdf.structure.normalise import UnreadablePdf
from paraph.pdf.structure.objects import CONFUSED, Unsafe
from paraph.pdf.timestamps.timestamp import Timestamp, Timestamping, stamp_time

__all__ = ["Mark", "Overlay", "SealError", "SealedPdf", "seal"]

_TOKEN_SIZE = 8192
_TOKEN_MARGIN = 512
_TRIES = 3
_NOTHING = Found(LongTermData())
Drafts = Callable[[bytes, Wanted], Iterator[Draft]]


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
    drafts: Drafts = drafts_here,
) -> SealedPdf:
    """Draws the marks and the overlay, seals, and validates the result.

    ``purpose`` stands in the seal: whoever seals says what for, and a verifier of proofs takes nobody else's word.
    ``appearances`` is a PDF whose pages are the pictures that marks and overlay name. Without ``timestamping``, or
    without an answer from its authorities, the seal is B-B and ``timestamp`` None; without ``long_term``, or where a
    status cannot be had, B-T. Earlier signatures of the file stay valid: marks then live in the annotations of the
    seal's own field. ``drafts``: which process reads the file,
    :func:`~paraph.pdf.untrusted.sandboxed_draft.sandboxed_drafts` for one with limits of its own.

    Raises :class:`SealError` with one sentence, and ``DomainError("configuration", …)`` when the key's certificate
    expired or was revoked.
    """
    if timestamping and long_term:
        timestamping = replace(timestamping, refuse=long_term.refuse)
    order = _Order(key, purpose, timestamping, long_term)
    try:
        return _first_that_works(drafts(pdf, Wanted(appearances, marks, page_overlay, reason, name, at)), order)
    except UnreadablePdf as error:
        raise SealError(str(error)) from error
    except Unsafe as error:
        raise SealError("The PDF cannot be sealed: its structure is damaged.") from error
    except RecursionError as error:
        raise SealError("The PDF cannot be sealed: its structure is nested too deeply.") from error


def _first_that_works(drafts: Iterator[Draft], order: _Order) -> SealedPdf:
    for draft in drafts:
        try:
            return _attempt(draft, order)
        except Unsafe as error:
            unsafe = error
    raise unsafe


def _attempt(draft: Draft, order: _Order) -> SealedPdf:
    """Again where the timestamp needs more room, or statuses of an authority that nobody expected to answer."""
    token_size = _TOKEN_SIZE if order.timestamping else 0
    for _ in range(_TRIES):
        try:
            return _sealed(draft, order, token_size)
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
class _Signed:
    """What the seal appends. ``hash`` is SHA-256 of the file with it, ``original_hash`` of the file."""

    text: bytearray
    hash: "hashlib._Hash"
    original_hash: "hashlib._Hash"
    kms_request_id: str
    timestamp: Timestamp | None
    failures: list[str]


def _sealed(draft: Draft, order: _Order, token_size: int) -> SealedPdf:
    found = order.long_term.expected(order.key_chain) if order.long_term and order.timestamping else _NOTHING
    written = draft.seal_revision(found.data, template(order.key).size(order.purpose, token_size))
    signed = _signed(draft.pdf, written, order)
    long = prolong(
        draft,
        signed.text,
        signed.hash,
        seal_timestamp=signed.timestamp,
        key_chain=order.key_chain,
        long_term=order.long_term,
        timestamping=order.timestamping,
        found=found,
    )
    if long is None:
        raise _Again(0)
    content = draft.pdf + long.text
    draft.check(content, signed.original_hash, _expected(draft, signed, long, order))
    return SealedPdf(
        content=content,
        sha256=long.hash.digest(),
        signing_algorithm=order.key.algorithm,
        kms_key_id=order.key.key_id,
        kms_request_id=signed.kms_request_id,
        timestamp=signed.timestamp,
        timestamp_failures=signed.failures,
        method=draft.method,
        level=long.level,
        level_reasons=long.reasons,
        archive=long.archive,
        certificates=order.key_chain,
    )


def _signed(pdf: bytes, written: Holed, order: _Order) -> _Signed:
    original_hash = hashlib.sha256(pdf)
    cms = template(order.key)
    attributes = cms.signed_attributes(written.hashed_after(original_hash).digest(), order.purpose)
    signature = order.key.sign(attributes)
    stamp, failures = None, list[str]()
    if order.timestamping is not None:
        stamp, failures = stamp_time(hashlib.sha256(signature.value).digest(), order.timestamping)
    token = stamp.token if stamp else b""
    contents = cms.assemble(attributes, signature.value, token).hex().encode()
    if not written.has_room_for(contents):
        raise _Again(len(token))
    written.fill(contents)
    whole = original_hash.copy()
    whole.update(written.text)
    return _Signed(written.text, whole, original_hash, signature.request_id, stamp, failures)


def _expected(draft: Draft, signed: _Signed, long: Prolonged, order: _Order) -> Expected:
    return Expected(
        certificates=without_root(order.key.certificate, order.key.chain),
        purpose=order.purpose,
        token=signed.timestamp.token if signed.timestamp else b"",
        sealed_size=len(draft.pdf) + len(signed.text),
        archive_token=long.archive.token if long.archive else b"",
        statuses=long.data,
    )
