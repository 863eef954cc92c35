"""The check of one signature: its cryptography, its certificate, its timestamp."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from paraph.kernel import clock
from paraph.pdf.pki import oids
from paraph.pdf.pki.certificate import Certificate, Identity, Untrusted, check_chain, end_of
from paraph.pdf.pki.cms import (
    CmsMismatch,
    CmsOutdated,
    CmsRefused,
    SignedData,
    check_signature,
    digest_of,
    read_signed_data,
)
from paraph.pdf.pki.one_form import seal_in_one_form, token_in_one_form
from paraph.pdf.pki.purpose import Purpose, stated_purpose
from paraph.pdf.pki.revocation import LongTermData, Revoked
from paraph.pdf.report import Coverage, Level, SealTimestamp
from paraph.pdf.structure.signature_fields import TIMESTAMP, SignedField
from paraph.pdf.timestamps.timestamp import TimestampToken, TokenMismatch, TokenRefused, TokenUnfit, check_token
from paraph.pdf.verdict import Fault, SubIndication
from paraph.pdf.verification.signed_file import SignedFile

PADES = "/ETSI.CAdES.detached"
_TIMESTAMP = TIMESTAMP.decode()
_ACCEPTED = (PADES, "/adbe.pkcs7.detached")


@dataclass(frozen=True)
class ProvenTime:
    """When a signature is proven to have been made: after a time, as it covers what did not exist before, and before
    another; ``None`` where nothing proves it."""

    after: datetime | None = None
    before: datetime | None = None


@dataclass
class SignatureCheck:
    """The result for one signature, completed step by step."""

    field: SignedField
    coverage: Coverage
    claimed_at: datetime | None = None
    """The time by the signer's clock."""
    intact: bool = False
    mismatch: bool = False
    """The signature can be read, but does not cover what was signed."""
    genuine: bool = False
    """The signature covers what was signed, if perhaps with an outdated hash or a timestamp that does not count."""
    signer: str = ""
    certificate: Identity | None = None
    """The signer's certificate; ``None`` where it cannot be read."""
    root: Identity | None = None
    """The root that the certificate chains to; ``None`` where it is not trusted."""
    purpose: Purpose | None = None
    """The purpose stated in an intact seal."""
    timestamp: SealTimestamp | None = None
    chains: list[tuple[tuple[bytes, ...], datetime]] = dataclasses.field(default_factory=list)
    """The verified chains of the signer and of its timestamp authority, each with the time that counts."""
    authority_ends: datetime | None = None
    """When the first certificate in the chain of the trusted timestamp expires; of several timestamps, that of the one
    that lasts longest."""
    trusted: bool = False
    pades: bool = False
    faults: list[Fault] = dataclasses.field(default_factory=list)

    def fault(self, kind: SubIndication, sentence: str) -> None:
        self.faults.append(Fault("SIGNED_DATA_NOT_FOUND" if self.field.blank else kind, sentence))

    @property
    def label(self) -> str:
        """The name of the field, for sentences."""
        return self.field.name or "without a name"

    @property
    def is_accepted(self) -> bool:
        """Whether this is a signature or document timestamp that is intact and trusted."""
        return self.intact and self.trusted

    @property
    def binds(self) -> bool:
        """Whether nothing may be changed after this signature but what is known to be harmless: it is trusted, or it
        says that a service like this one made it."""
        return self.intact and (self.trusted or self.purpose is not None)

    @property
    def archives(self) -> bool:
        """Whether this is a document timestamp that is intact and trusted."""
        return self.field.is_document_timestamp and self.is_accepted


def cannot_check(field: SignedField, why: str, kind: SubIndication) -> SignatureCheck:
    """Return the result for a signature that cannot be checked, for the reason ``why``, which is of this kind."""
    check = SignatureCheck(field, "unclear", field.claimed_at)
    name = "document timestamp" if field.is_document_timestamp else "signature"
    check.fault(kind, f"The {name} {check.label} cannot be read: {why}.")
    return check


def check_document_timestamp(
    file: SignedFile, field: SignedField, roots: Sequence[bytes], carried: LongTermData
) -> SignatureCheck:
    """Check a signature that is a timestamp over the covered bytes (ETSI EN 319 142-1 §5.4.3). ``roots``: DER of the
    trusted roots; ``carried``: the long-term data of the file."""
    check = SignatureCheck(field, file.coverage(field))
    if field.sub_filter != _TIMESTAMP:
        sentence = f"The document timestamp {check.label} has the form {field.sub_filter or 'of none'}."
        check.fault("SIG_CONSTRAINTS_FAILURE", sentence)
        return check
    try:
        token, check.timestamp = _stamp(check, field.contents, partial(file.digest, field), roots, carried)
    except TokenRefused as error:
        check.fault(error.kind, f"The document timestamp {check.label} is not valid: {error}.")
        check.mismatch = isinstance(error, TokenMismatch)
        return check
    check.intact = check.genuine = _covers(check)
    check.signer, check.certificate = token.authority, Identity(token.signer.encoded)
    check.trusted = check.timestamp.trusted
    check.root = Identity(check.chains[0][0][-1]) if check.trusted else None
    return check


def check_one_form(file: SignedFile, check: SignatureCheck) -> None:
    """Note whether an archive timestamp of this service is in the one form in which the service writes them."""
    try:
        unchanged = file.has_value(check.field, token_in_one_form(check.field.contents))
    except (CmsRefused, ValueError):
        unchanged = False
    if not unchanged:
        check.intact, check.mismatch = False, True
        sentence = f"Bytes of {check.label} that no signature covers are not as the service writes them."
        check.fault("FORMAT_FAILURE", sentence)


def check_seal(
    file: SignedFile, field: SignedField, roots: Sequence[bytes], carried: LongTermData, made: ProvenTime
) -> SignatureCheck:
    """Check a signature by a person or an organization.

    ``made``: what the document timestamps and those beside the file prove about when it was made. The certificate must
    have been valid at the time of the trusted timestamp, else when the signature is proven to have existed, else now;
    the signer's clock proves nothing. ``roots`` and ``carried``: as in :func:`check_document_timestamp`.
    """
    check = SignatureCheck(field, file.coverage(field), field.claimed_at)
    if field.sub_filter not in _ACCEPTED:
        sentence = f"The signature {check.label} has the form {field.sub_filter or 'of none'}."
        check.fault("SIG_CONSTRAINTS_FAILURE", sentence)
        return check
    try:
        signed = read_signed_data(field.contents)
        check.signer, check.certificate = signed.signer.name, Identity(signed.signer.encoded)
        check.claimed_at = signed.signing_time or field.claimed_at
        if signed.content_type != oids.DATA:
            raise CmsRefused("it says that it signs something else than a file")
        if signed.content is not None:
            raise CmsRefused("it carries content of its own")
        check_signature(signed, partial(file.digest, field))
        check.purpose = stated_purpose(signed)
        if check.purpose is not None and not file.has_value(field, seal_in_one_form(signed)):
            sentence = "bytes of it that no signature covers are not as the service writes them"
            raise CmsMismatch(sentence, "FORMAT_FAILURE")
    except CmsRefused as error:
        check.mismatch, check.genuine = isinstance(error, CmsMismatch), isinstance(error, CmsOutdated)
        check.fault(error.kind, f"The seal {check.label} does not hold: {error}.")
        check.genuine = check.genuine and _covers(check)
        return check
    check.intact = check.genuine = _covers(check)
    check.pades = field.sub_filter == PADES and signed.names_certificate
    later = _check_timestamps(check, file, signed, roots, carried)
    claimed = [check.claimed_at] if check.claimed_at else []
    if file.as_of and check.timestamp is None and any(time > file.as_of for time in [*later, *claimed]):
        check.fault("NO_POE", f"Nothing proves that {check.label} was made by then.")
    if check.timestamp and check.timestamp.trusted:
        made = replace(made, before=check.timestamp.time)
    _check_signer(check, signed, roots, carried, made, now=file.now)
    return check


def level(check: SignatureCheck, carried: LongTermData, archived: tuple[LongTermData, datetime] | None) -> Level:
    """Return the PAdES level. ``carried``: the long-term data of the file; ``archived``: the part of it under a
    trusted document timestamp, and the time of that, ``None`` where there is no such timestamp."""
    if not (check.pades and check.intact):
        return ""
    if (check.timestamp is None or not check.timestamp.trusted) and archived is None:
        return "B-B"
    data, time = archived or (LongTermData(), clock.now())
    stamped = {item: time for items in data.lists for item in items}
    if not check.trusted or not _proven(check, carried, stamped):
        return "B-T"
    return "B-LTA" if archived is not None and _proven(check, data, stamped) else "B-LT"


def _proven(check: SignatureCheck, data: LongTermData, stamped: Mapping[bytes, datetime]) -> bool:
    return all(data.proves(chain, moment, stamped) for chain, moment in check.chains)


def _covers(check: SignatureCheck) -> bool:
    if check.coverage == "unclear":
        check.fault("FORMAT_FAILURE", f"What {check.label} covers is not the revision that it belongs to.")
        check.mismatch = True
    return check.coverage != "unclear"


def _check_timestamps(
    check: SignatureCheck, file: SignedFile, signed: SignedData, roots: Sequence[bytes], carried: LongTermData
) -> list[datetime]:
    """Check all timestamps in a seal except those that did not exist yet, and return the times of these. Note a
    timestamp that is not trusted, or else the earliest."""
    stamps, later = list[SealTimestamp](), list[datetime]()
    for encoded in signed.unsigned_attributes.get(oids.TIMESTAMP_TOKEN, ()):
        known = len(check.faults)
        try:
            stamp = _stamp(check, encoded.raw, digest_of(signed.signature), roots, carried)[1]
            if file.as_of and stamp.time > file.as_of:
                del check.faults[known:]
                later.append(stamp.time)
            else:
                stamps.append(stamp)
        except TokenRefused as error:
            check.fault(error.kind, f"A timestamp of {check.label} is not valid: {error}.")
            check.intact = False
            check.mismatch = check.mismatch or isinstance(error, TokenMismatch)
    if check.intact:
        check.timestamp = min(stamps, key=lambda stamp: (stamp.trusted, stamp.time), default=None)
    return later


def _stamp(
    check: SignatureCheck,
    encoded: bytes,
    stamped_digest: Callable[[str], bytes],
    roots: Sequence[bytes],
    carried: LongTermData,
) -> tuple[TimestampToken, SealTimestamp]:
    """Return a token that stamps the content; note whether its authority is trusted. Raise :class:`TokenRefused`."""
    trusted, known = False, len(check.faults)
    try:
        token = check_token(encoded, stamped_digest)
        chain = check_chain(token.signer, (*token.certificates, *carried.certificates), roots, token.time)
        carried.proves(chain, token.time)
        check.chains.append((chain, token.time))
        ends = end_of(chain)
        check.authority_ends = max(ends, check.authority_ends or ends)
        trusted = True
    except TokenUnfit as error:
        token = error.token
        check.fault(error.kind, f'The timestamp by "{token.authority}" does not count: {error}.')
    except (Untrusted, Revoked) as error:
        kind = _kind(error, token.signer, ProvenTime())
        check.fault(kind, f'The timestamp authority "{token.authority}" is not trusted: {error}.')
    faults = tuple(check.faults[known:])
    return token, SealTimestamp(token.authority, token.time, token.policy_oid, trusted, faults)


def _check_signer(
    check: SignatureCheck,
    signed: SignedData,
    roots: Sequence[bytes],
    carried: LongTermData,
    made: ProvenTime,
    *,
    now: datetime,
) -> None:
    moment = made.before or now
    try:
        if not signed.signer.for_documents:
            raise Untrusted("its certificate is not one for documents", "CHAIN_CONSTRAINTS_FAILURE")
        between = (*signed.certificates, *carried.certificates)
        chain = check_chain(signed.signer, between, roots, moment)
        carried.proves(chain, moment)
    except (Untrusted, Revoked) as error:
        kind = _kind(error, signed.signer, made)
        check.faults.insert(0, Fault(kind, f'"{check.signer}" is not trusted: {error}.'))
    else:
        check.root = Identity(chain[-1])
        check.chains.append((chain, moment))
        check.trusted = True


def _kind(error: Untrusted | Revoked, signer: Certificate, made: ProvenTime) -> SubIndication:
    """Return what follows from a chain that is not trusted: a forgery where the signature is proven to have been made
    when the certificate could no longer, or not yet, have made it."""
    own = signer.parsed
    if isinstance(error, Revoked):
        if error.certificate != signer:
            return "REVOKED_CA_NO_POE"
        return "REVOKED" if made.after and made.after >= error.when else "REVOKED_NO_POE"
    if error.kind == "OUT_OF_BOUNDS_NO_POE" and made.after and made.after > own.not_valid_after_utc:
        return "EXPIRED"
    if error.kind == "OUT_OF_BOUNDS_NO_POE" and made.before and made.before < own.not_valid_before_utc:
        return "NOT_YET_VALID"
    return error.kind
