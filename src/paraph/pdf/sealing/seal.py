"""Sealing: marks, overlay, long-term data, signature field and PAdES seal in one incremental revision, and an archive
timestamp in another (ETSI EN 319 142-1).

The result begins with the bytes of the file, unless the file can only be sealed after it is rewritten
(:mod:`paraph.pdf.structure.normalise`); :attr:`SealedPdf.method` tells.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from paraph.keys import SigningKey
from paraph.keys.certificates import misconfigured
from paraph.pdf.drawing.marks import Mark, Overlay
from paraph.pdf.pki.certificate import load, without_root
from paraph.pdf.pki.one_form import low_signature
from paraph.pdf.pki.purpose import Purpose
from paraph.pdf.pki.revocation import LongTermData, Revoked
from paraph.pdf.pki.statuses import CollectedStatuses, LongTerm
from paraph.pdf.refusal import SealError
from paraph.pdf.report import Level
from paraph.pdf.sealing.augment import Augmented, SealingOptions, Signed, augment
from paraph.pdf.sealing.cms_template import CmsTemplate
from paraph.pdf.sealing.draft import SealContent, SealDraft, drafts_in_process
from paraph.pdf.sealing.self_check import ExpectedSeal
from paraph.pdf.structure.normalise import Method, UnreadablePdf
from paraph.pdf.structure.objects import CONFUSED, Unsafe
from paraph.pdf.structure.revision import WrittenRevision
from paraph.pdf.timestamps.timestamp import Timestamp, Timestamping, stamp_time

__all__ = ["Mark", "Overlay", "SealError", "SealedPdf", "seal"]

_TOKEN_SIZE = 8192  # bytes, the room for a first timestamp
_TOKEN_MARGIN = 512
_TRIES = 3
_NO_STATUSES = CollectedStatuses(LongTermData())
Drafts = Callable[[bytes, SealContent], Iterator[SealDraft]]


@dataclass(frozen=True)
class SealedPdf:
    """A sealed file that passed its check, and the facts that the journal states of it (rule 4.11)."""

    content: bytes
    sha256: bytes
    signing_algorithm: str
    kms_key_id: str
    kms_request_id: str
    timestamp: Timestamp | None
    timestamp_failures: list[str]
    sealed_at: datetime
    """When the seal was made, to the microsecond; the file states the second. Not after :attr:`timestamp`, which covers
    the seal: where this machine's clock is ahead of the authority's, or the authority cuts its times to the second, it
    is the authority's time."""
    method: Method
    """How the file was made extendable. Unless this is ``normalised``, the result begins with the file's bytes."""
    level: Level
    """The PAdES level of the file for whoever trusts the roots of its seal and timestamps."""
    level_reasons: tuple[str, ...] = ()
    """Why it is lower than the configured one, a sentence each."""
    archive: Timestamp | None = None
    """The token of the archive timestamp, at B-LTA."""
    certificates: tuple[bytes, ...] = ()
    """DER of the key's certificate and its issuers."""

    @property
    def chains(self) -> dict[str, tuple[bytes, ...]]:
        """The certificate chains of ``seal``, ``timestamp`` and ``archive_timestamp``, where present: DER, the end
        entity's first, the root last if it is known."""
        stamps = {"timestamp": self.timestamp, "archive_timestamp": self.archive}
        chains = {"seal": self.certificates, **{name: stamp.chain for name, stamp in stamps.items() if stamp}}
        return {name: chain for name, chain in chains.items() if chain}


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
    clean_contents: bool = False,
    reason: str = "",
    name: str = "",
    at: datetime,
    drafts: Drafts = drafts_in_process,
    hashed: "hashlib._Hash | None" = None,
) -> SealedPdf:
    """Draw the marks and the overlay, seal, and check the result.

    ``purpose`` is stated in the seal, under its signature. ``appearances`` is a PDF whose pages are the pictures that
    marks and overlay name. Without ``timestamping``, or where no authority answers, the seal is B-B and ``timestamp``
    None; without ``long_term``, or where a status is not available, B-T. Earlier signatures of the file stay valid:
    marks then go into annotations of the seal's field. ``clean_contents``: the contents of every page were read and
    found to leave nothing open (:class:`paraph.pdf.structure.graphics_state.PageEndings`), and nothing in the file to
    refer to an object beyond its last, so that it is not searched again; this holds for the file as it is, not for a
    repaired form of it. ``drafts`` chooses the process that reads the file:
    :func:`~paraph.pdf.untrusted.sandboxed_draft.sandboxed_drafts` for the sandbox. ``hashed``: the SHA-256 state after
    the file, where the caller has it.

    Raises :class:`SealError` with one sentence, and ``DomainError("configuration", …)`` where the key's certificate has
    expired or was revoked.
    """
    if timestamping and long_term:
        timestamping = replace(timestamping, check_not_revoked=long_term.check_not_revoked)
    options = SealingOptions(key, purpose, timestamping, long_term, at, hashed or hashlib.sha256(pdf))
    try:
        content = SealContent(appearances, marks, page_overlay, reason, name, at, clean_contents)
        return _first_that_works(drafts(pdf, content), options)
    except UnreadablePdf as error:
        raise SealError(str(error)) from error
    except Unsafe as error:
        raise SealError("The PDF cannot be sealed: its structure is damaged.") from error
    except RecursionError as error:
        raise SealError("The PDF cannot be sealed: its structure is nested too deeply.") from error


def _first_that_works(drafts: Iterator[SealDraft], options: SealingOptions) -> SealedPdf:
    for draft in drafts:
        try:
            return _attempt(draft, options)
        except Unsafe as error:
            unsafe = error
    raise unsafe


def _attempt(draft: SealDraft, options: SealingOptions) -> SealedPdf:
    """Seal one form, again where the timestamp needs more room or came from an unexpected authority."""
    token_size, issuers = 0, LongTermData()
    if options.timestamping:
        token_size, issuers = _TOKEN_SIZE, LongTermData(tuple(options.timestamping.last_issuers))
    for _ in range(_TRIES):
        try:
            return _sealed(draft, options, token_size, issuers)
        except _WriteAgain as again:
            token_size = max(token_size, again.token_size + _TOKEN_MARGIN)
            issuers += again.issuers
        except Revoked as error:
            raise misconfigured(f"The sealing key must not be used: {error}.") from error
        except CONFUSED as error:
            raise Unsafe("the file confuses the reader") from error
    raise SealError("The timestamp authority answers differently each time.")


class _WriteAgain(Exception):
    """The revision of the seal has to be written again, with room for a token of ``token_size`` bytes, and with the
    ``issuers`` of its authority."""

    def __init__(self, token_size: int = 0, issuers: LongTermData = _NO_STATUSES.data) -> None:
        self.token_size, self.issuers = token_size, issuers


def _sealed(draft: SealDraft, options: SealingOptions, token_size: int, issuers: LongTermData) -> SealedPdf:
    key, long_term = options.key, options.long_term
    collected = long_term.collect_expected(options.key_chain) if long_term and options.timestamping else _NO_STATUSES
    collected = replace(collected, data=collected.data + issuers)
    revision = draft.seal_revision(collected.data, CmsTemplate(key).size(options.purpose, token_size))
    signed = _signed(draft, revision, options)
    augmented = augment(draft, signed, options, collected)
    if augmented is None:
        raise _WriteAgain
    if signed.timestamp and not augmented.data.holds(signed.timestamp.issuers):
        raise _WriteAgain(issuers=signed.timestamp.issuers)
    content = draft.pdf + augmented.text
    draft.check(content, signed.original_hash, _expected(draft, signed, augmented, options))
    return SealedPdf(
        content=content,
        sha256=augmented.hash.digest(),
        signing_algorithm=key.algorithm,
        kms_key_id=key.key_id,
        kms_request_id=signed.kms_request_id,
        timestamp=signed.timestamp,
        timestamp_failures=signed.failures,
        sealed_at=min(options.at, signed.timestamp.time) if signed.timestamp else options.at,
        method=draft.method,
        level=augmented.level,
        level_reasons=augmented.reasons,
        archive=augmented.archive,
        certificates=options.key_chain,
    )


def _signed(draft: SealDraft, revision: WrittenRevision, options: SealingOptions) -> Signed:
    original_hash = options.hashed if draft.method == "incremental" else hashlib.sha256(draft.pdf)
    cms = CmsTemplate(options.key)
    attributes = cms.signed_attributes(revision.hashed_after(original_hash).digest(), options.purpose)
    signature = options.key.sign(attributes)
    value = low_signature(signature.value, load(options.key.certificate))
    timestamp, failures = None, list[str]()
    if options.timestamping is not None:
        timestamp, failures = stamp_time(hashlib.sha256(value).digest(), options.timestamping)
    token = timestamp.token if timestamp else b""
    contents = cms.assemble(attributes, value, token).hex().encode()
    if not revision.has_room_for(contents):
        raise _WriteAgain(len(token))
    revision.fill(contents)
    whole = original_hash.copy()
    whole.update(revision.text)
    return Signed(revision.text, whole, original_hash, signature.request_id, timestamp, failures)


def _expected(draft: SealDraft, signed: Signed, augmented: Augmented, options: SealingOptions) -> ExpectedSeal:
    return ExpectedSeal(
        certificates=without_root(options.key.certificate, options.key.chain),
        purpose=options.purpose,
        token=signed.timestamp.token if signed.timestamp else b"",
        sealed_size=len(draft.pdf) + len(signed.text),
        archive_token=augmented.archive.token if augmented.archive else b"",
        statuses=augmented.data,
    )
