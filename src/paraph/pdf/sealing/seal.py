"""Sealing: marks, overlay, long-term data, signature field and PAdES seal in one incremental revision, and an archive
timestamp in another, as far as authorities and statuses allow (ETSI EN 319 142-1).

The signature of the second revision is an RFC 3161 token over the whole file (§5.4.3). It also carries the long-term
data that was not known at the seal.

The result begins with the bytes of the file, unless the file can only be sealed after it is rewritten
(:mod:`paraph.pdf.structure.normalise`); :attr:`SealedPdf.method` tells which.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from paraph.keys import SigningKey
from paraph.keys.certificates import misconfigured
from paraph.pdf.drawing.marks import Mark, Overlay
from paraph.pdf.pki.certificate import Untrusted, check_chain, load, missing_issuer, without_root
from paraph.pdf.pki.one_form import CmsTemplate, low_signature
from paraph.pdf.pki.purpose import Purpose
from paraph.pdf.pki.revocation import LongTermData, Revoked
from paraph.pdf.pki.statuses import Chain, CollectedStatuses, LongTerm
from paraph.pdf.refusal import SealError
from paraph.pdf.report import Level
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
    """A sealed file that passed its check, and the facts that the journal states about it (rule 4.11)."""

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
    """Why the level is lower than the configured one, a sentence each."""
    archive: Timestamp | None = None
    """The archive timestamp; present at level B-LTA only."""
    certificates: tuple[bytes, ...] = ()
    """DER of the key's certificate and its issuers."""

    @property
    def chains(self) -> dict[str, tuple[bytes, ...]]:
        """The certificate chains of ``seal``, ``timestamp`` and ``archive_timestamp``, where present: DER, the end
        entity's first, the root last if it is known."""
        stamps = {"timestamp": self.timestamp, "archive_timestamp": self.archive}
        chains = {"seal": self.certificates, **{name: stamp.chain for name, stamp in stamps.items() if stamp}}
        return {name: chain for name, chain in chains.items() if chain}


@dataclass(frozen=True)
class _Options:
    """What a file is sealed with."""

    key: SigningKey
    purpose: Purpose
    timestamping: Timestamping | None
    long_term: LongTerm | None
    at: datetime
    hashed: "hashlib._Hash"
    """The SHA-256 state after the file as it is; a rewritten form of the file has a state of its own."""

    @property
    def key_chain(self) -> Chain:
        return (self.key.certificate, *self.key.chain)


@dataclass(frozen=True)
class _Signed:
    """The signed revision of the seal. ``hash``: the SHA-256 state after it, ``original_hash``: before it."""

    text: bytearray
    hash: "hashlib._Hash"
    original_hash: "hashlib._Hash"
    kms_request_id: str
    timestamp: Timestamp | None
    failures: list[str]


@dataclass(frozen=True)
class _Augmented:
    """The end of the finished file, and the level reached."""

    text: bytes | bytearray
    """What follows the original bytes."""
    hash: "hashlib._Hash"
    """The SHA-256 state after the whole file."""
    level: Level
    data: LongTermData
    """The long-term data in the file."""
    reasons: tuple[str, ...] = ()
    """A sentence for each thing that kept the seal from the configured level."""
    archive: Timestamp | None = None


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
    found to leave nothing open (:class:`paraph.pdf.structure.graphics_state.PageEndings`), and nothing in the file was
    found to refer to an object beyond its last, so the file is not searched again; this holds for the file as it is,
    not for a repaired form of it. ``drafts`` chooses the process that reads the file:
    :func:`~paraph.pdf.untrusted.sandboxed_draft.sandboxed_drafts` for the sandbox. ``hashed``: the SHA-256 state after
    the file, where the caller has it.

    Raise :class:`SealError` with one sentence, or ``DomainError("configuration", …)`` where the key's certificate has
    expired or was revoked.
    """
    if timestamping and long_term:
        timestamping = replace(timestamping, check_not_revoked=long_term.check_not_revoked)
    options = _Options(key, purpose, timestamping, long_term, at, hashed or hashlib.sha256(pdf))
    try:
        content = SealContent(appearances, marks, page_overlay, reason, name, at, clean_contents)
        return _first_that_works(drafts(pdf, content), options)
    except UnreadablePdf as error:
        raise SealError(str(error)) from error
    except Unsafe as error:
        raise SealError("The PDF cannot be sealed: its structure is damaged.") from error
    except RecursionError as error:
        raise SealError("The PDF cannot be sealed: its structure is nested too deeply.") from error


def _first_that_works(drafts: Iterator[SealDraft], options: _Options) -> SealedPdf:
    for draft in drafts:
        try:
            return _attempt(draft, options)
        except Unsafe as error:
            unsafe = error
    raise unsafe


def _attempt(draft: SealDraft, options: _Options) -> SealedPdf:
    """Seal one form, and again where the timestamp needs more room or came from an unexpected authority."""
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


def _sealed(draft: SealDraft, options: _Options, token_size: int, issuers: LongTermData) -> SealedPdf:
    key, long_term = options.key, options.long_term
    collected = long_term.collect_expected(options.key_chain) if long_term and options.timestamping else _NO_STATUSES
    collected = replace(collected, data=collected.data + issuers)
    cms = CmsTemplate(key)
    revision = draft.seal_revision(collected.data, cms.size(options.purpose, token_size))
    signed = _signed(draft, revision, options, cms)
    augmented = _augment(draft, signed, options, collected)
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


def _signed(draft: SealDraft, revision: WrittenRevision, options: _Options, cms: CmsTemplate) -> _Signed:
    original_hash = options.hashed if draft.method == "incremental" else hashlib.sha256(draft.pdf)
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
    return _Signed(revision.text, whole, original_hash, signature.request_id, timestamp, failures)


def _expected(draft: SealDraft, signed: _Signed, augmented: _Augmented, options: _Options) -> ExpectedSeal:
    return ExpectedSeal(
        certificates=without_root(options.key.certificate, options.key.chain),
        purpose=options.purpose,
        token=signed.timestamp.token if signed.timestamp else b"",
        sealed_size=len(draft.pdf) + len(signed.text),
        archive_token=augmented.archive.token if augmented.archive else b"",
        statuses=augmented.data,
    )


def _augment(draft: SealDraft, signed: _Signed, options: _Options, collected: CollectedStatuses) -> _Augmented:
    """Add long-term data and an archive timestamp, as far as ``options`` demand and authorities allow.

    ``collected``: the statuses that are already in the revision of the seal. Raise :class:`_WriteAgain` where the
    timestamp came from an unexpected authority, whose statuses are known now and belong in that revision.
    """
    stamp, long_term, timestamping = signed.timestamp, options.long_term, options.timestamping
    as_sealed = partial(_Augmented, signed.text, signed.hash, data=collected.data)
    if stamp is None or timestamping is None or long_term is None:
        return as_sealed("B-T" if stamp else "B-B", reasons=collected.missing)
    if reason := _untrusted(options.key_chain, stamp.time):
        return as_sealed("B-T", reasons=tuple(dict.fromkeys((*collected.missing, reason))))
    chains = [(options.key_chain, stamp.time), (stamp.chain, stamp.time)]
    added, reasons = LongTermData(), collected.missing
    level: Level = "B-LT" if _proven(chains, collected.data) else "B-T"
    if level == "B-T":
        others = long_term.collect(options.key_chain, stamp.chain)
        added, reasons = others.data, others.missing
    expected_chain = long_term.authority_chain
    long_term.authority_chain = stamp.chain
    if level == "B-T" and not _proven(chains, collected.data + added):
        return as_sealed(level, reasons=reasons)
    if not long_term.archive:
        if level == "B-T" and expected_chain != stamp.chain:
            raise _WriteAgain
        return as_sealed(level)
    archived, failures = _archive(draft, signed, timestamping.preferring(stamp.url), collected.data, added)
    if archived is None:
        return as_sealed(level, reasons=(*reasons, f"No archive timestamp could be had. {' '.join(failures)}"))
    return archived


def _untrusted(key_chain: Chain, moment: datetime) -> str:
    """Return a sentence why no verifier would trust the key's certificate, which keeps a seal at B-T; "" for none."""
    if missing := missing_issuer(key_chain):
        return f"{missing}."
    own = load(key_chain[0])
    try:
        if not own.for_documents:
            raise Untrusted("its certificate is not one for documents")
        check_chain(own, key_chain[1:], key_chain[-1:], moment)
    except Untrusted as error:
        return f'"{own.name}" is not trusted: {error}.'
    return ""


def _proven(chains: Sequence[tuple[Chain, datetime]], data: LongTermData) -> bool:
    try:
        return all(data.proves(chain, moment) for chain, moment in chains)
    except Revoked:
        return False


def _archive(
    draft: SealDraft, signed: _Signed, timestamping: Timestamping, present: LongTermData, missing: LongTermData
) -> tuple[_Augmented | None, list[str]]:
    """Add the archive revision. Return the result, ``None`` where no timestamp could be had, and a sentence for each
    authority that failed.

    ``present``: the long-term data in the revision of the seal; ``missing``: the data to add, besides the issuers of
    an unexpected authority.
    """
    token_size, failures = len(signed.timestamp.token) if signed.timestamp else 0, list[str]()
    for _ in range(_TRIES):
        size = token_size + _TOKEN_MARGIN
        written = draft.archive_revision(signed.text, missing, size)
        covered = written.hashed_after(signed.hash)
        stamp, failures = stamp_time(covered.digest(), timestamping)
        if stamp is None:
            return None, failures
        token_size = len(stamp.token)
        if not (present + missing).holds(stamp.issuers):
            missing += stamp.issuers
        elif token_size <= size:
            written.fill(stamp.token.hex().encode())
            whole = signed.hash.copy()
            whole.update(written.text)
            data = present + missing + stamp.issuers
            return _Augmented(signed.text + written.text, whole, "B-LTA", data, archive=stamp), failures
    return None, [*failures, "The timestamps grow with every attempt."]
