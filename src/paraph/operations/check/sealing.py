"""The sealing keys and the timestamp authorities, tried by sealing and timestamping; the transparency log: whether it
can grow, whether proofs wait for it, and whether its witnesses cosign."""

import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

from cryptography import x509
from django.conf import settings

from paraph.evidence.models import ProofFile
from paraph.flow.sealing.context import SealingContext, sealing_context
from paraph.kernel import clock, tokens
from paraph.kernel.errors import DomainError
from paraph.kernel.settings import BUILT_IN_TIMESTAMPS
from paraph.keys import SigningKey
from paraph.keys.csc_key import CscKey
from paraph.keys.sealing import EnvironmentName, operator_key
from paraph.operations.check.outcome import Outcome, compare_clocks, failed, ok, warning
from paraph.pdf.pki.certificate import end_of, missing_issuer, qualified_statements
from paraph.pdf.pki.purpose import Purpose, document_purpose, proof_purpose
from paraph.pdf.report import Level
from paraph.pdf.sealing.seal import SealedPdf, SealError, seal
from paraph.pdf.timestamps.timestamp import TimestampAuthority, stamp_time
from paraph.pdf.verification.verify import verify
from paraph.tenants.models import Environment
from paraph.transparency import log
from paraph.transparency.notes import read_note
from paraph.transparency.witnesses import missing, own_key, witness_settings

TIMESTAMP_SECONDS = 3.0
_EXPIRY_NOTICE = timedelta(days=30)
_DEVELOPMENT = "the development keys"
_PAID_AGAIN = 86_400.0  # seconds after which a process tests a key at a provider by another seal, which costs money
_paid: dict[SigningKey, tuple[float, Outcome]] = {}
"""When a key at a provider is next tested by a seal, and the outcome of its last test."""


def _canary() -> bytes:
    objects = (
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Count 1/Kids[3 0 R]>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Resources<<>>>>",
    )
    content, offsets = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(content))
        content += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    entries = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    table = b"xref\n0 4\n0000000000 65535 f \n%b" % entries
    return content + table + b"trailer\n<</Size 4/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % len(content)


CANARY = _canary()
"""A minimal PDF of one empty page, for checks to seal."""


def sealing() -> Outcome:
    """``sealing``: seals, timestamps and verifies a canary PDF with each key of production."""
    return _try_keys("production")


def sandbox_sealing() -> Outcome:
    """``sandbox sealing``: seals, timestamps and verifies a canary PDF with each key of the sandbox."""
    return _try_keys("sandbox")


def certificate_ends() -> dict[str, float]:
    """Return the earliest end of the certificates of each environment whose keys open, in seconds since 1970."""
    ends = {}
    for environment in Environment.values:
        with contextlib.suppress(DomainError, OSError):
            keys = sealing_context().keys(environment)
            ends[environment] = end_of((keys.documents.certificate, keys.proofs.certificate)).timestamp()
    return ends


def timestamps() -> Iterator[Outcome]:
    """``timestamp <name>`` for each authority, and ``clock <name>`` for those with a clock of their own. An authority
    that fails is only a warning while another one answers, because seals try them in order."""
    try:
        context = sealing_context()
    except DomainError as error:
        yield failed(error.message)
        return
    authorities = context.timestamping.authorities
    if not authorities:
        yield warning("No timestamp authority is set: seals state no provable time.")
    found = [outcome for authority in authorities for outcome in _try_authority(authority, context)]
    answered = any(outcome.name.startswith("timestamp") and outcome.status != "failed" for outcome in found)
    for outcome in found:
        replaced = answered and outcome.name.startswith("timestamp") and outcome.status == "failed"
        yield warning(f"{outcome.sentence} Others answer.", outcome.name) if replaced else outcome


def _try_keys(environment: EnvironmentName) -> Outcome:
    began, source = time.perf_counter(), _DEVELOPMENT
    try:
        if configured := operator_key(settings.PARAPH, environment):
            source = str(configured.certificates or configured.address)
        context = sealing_context()
        keys = context.keys(environment)
        again, kept = _paid.get(keys.documents, (0.0, None))
        if kept and isinstance(keys.documents, CscKey) and time.monotonic() < again:
            keys.documents.check_usable()
            return kept
    except (DomainError, OSError) as error:
        return _unusable(error)
    kinds = (document_purpose,) if keys.proofs is keys.documents else (document_purpose, proof_purpose)
    try:
        sealed = [_seal(context, kind(0, environment)) for kind in kinds]
    except (DomainError, SealError, OSError) as error:
        return _unusable(error, f"{source}: ")
    verified = [verify(each.content, context.roots(environment)) for each in sealed]
    for found, each in zip(verified, sealed, strict=True):
        if not (found.ok or (missing_issuer(each.certificates) and found.intact and not found.altered)):
            findings = " ".join(found.findings)
            return failed(f"The seal of a test file does not validate with {source}: {findings}")
    seconds, levels = time.perf_counter() - began, [found.level for found in verified]
    outcome = _outcome(environment, source, sealed, levels, f"{_by(keys.documents)} in {seconds:.2f} s")
    if isinstance(keys.documents, CscKey):
        _paid[keys.documents] = time.monotonic() + _PAID_AGAIN, outcome
    return outcome


def _by(key: SigningKey) -> str:
    """Return which provider keeps the key, and the statements of its certificate about being qualified."""
    stated = ", ".join(qualified_statements(key.certificate))
    kept = f", by {key.provider} with its credential {key.credential}" if isinstance(key, CscKey) else ""
    return kept + (f", whose certificate states {stated}," if stated else "")


def _unusable(error: Exception, source: str = "") -> Outcome:
    """Return the failure of sealing. ``source``: where the certificates come from, named before the error."""
    if isinstance(error, DomainError):
        return failed(error.message if error.code == "unavailable" else f"{source}{error.message}")
    return failed(f"{source}Sealing fails: {error}.")


def _seal(context: SealingContext, purpose: Purpose) -> SealedPdf:
    quick = replace(context.timestamping, budget_seconds=TIMESTAMP_SECONDS)
    return seal(
        CANARY,
        key=context.key(purpose),
        purpose=purpose,
        timestamping=quick,
        long_term=context.long_term,
        reason="Check of the service",
        at=clock.now(),
    )


def _outcome(environment: str, source: str, sealed: Sequence[SealedPdf], levels: Sequence[Level], how: str) -> Outcome:
    """Report all findings, the end of a certificate first, because it has a deadline. ``sealed``: a test file for each
    key, if documents and proofs have different ones; ``levels``: those verified; ``how``: the provider and duration."""
    certificates = [x509.load_der_x509_certificate(each.certificates[0]) for each in sealed]
    until = min(end_of(each.certificates[:1]) for each in sealed)
    stamped = ", timestamped" if sealed[0].timestamp else ""
    done = f"A test file was sealed{stamped} and verified at the level {levels[0]}{how}"
    warnings = [f"{missing} in {source}." for each in sealed if (missing := missing_issuer(each.certificates))]
    warnings += _lacks(sealed, levels)
    if until - clock.now() < _EXPIRY_NOTICE:
        warnings.insert(0, f"The key's certificate counts until {clock.iso(until)}: renew it before.")
    if source == _DEVELOPMENT and environment == "production":
        warnings.append("The key is the development key, which nobody beyond this service trusts.")
    if warnings:
        return warning(f"{done}. {' '.join(warnings)}")
    subject = certificates[0].subject.rfc4514_string()
    return ok(f'{done}, with the key of "{subject}", valid until {clock.iso(until)}.')


def _lacks(sealed: Sequence[SealedPdf], levels: Sequence[Level]) -> Iterator[str]:
    """Yield what is wrong with the test files; a fault of both is reported once."""
    wanted = settings.PARAPH.seal_level
    unstamped = [failure for each in sealed if not each.timestamp for failure in each.timestamp_failures]
    if wanted != "B-B" and any(not each.timestamp for each in sealed):
        yield " ".join(["It has no timestamp.", *dict.fromkeys(unstamped)])
    if any(level != wanted for level in levels):
        missing_issuers = {f"{missing_issuer(each.certificates)}." for each in sealed}
        reasons = [reason for each in sealed for reason in each.level_reasons if reason not in missing_issuers]
        yield " ".join([f"The level is not {wanted}.", *dict.fromkeys(reasons)])


def _try_authority(authority: TimestampAuthority, context: SealingContext) -> Iterator[Outcome]:
    name = f"timestamp {authority.name}"
    alone = replace(context.timestamping, authorities=[authority], budget_seconds=TIMESTAMP_SECONDS)
    began = time.perf_counter()
    stamp, failures = stamp_time(tokens.sha256(tokens.random_bytes(32)), alone)
    if stamp is None:
        yield failed(" ".join(failures), name)
        return
    if authority.name == BUILT_IN_TIMESTAMPS:
        yield warning("The built-in authority answers: this machine's clock, which nobody else vouches for.", name)
        return
    yield ok(f"{stamp.authority} gives verified timestamps in {(time.perf_counter() - began):.2f} s.", name)
    yield compare_clocks(f"clock {authority.name}", f"that of {stamp.authority}", stamp.time, clock.now())


_LATE = timedelta(minutes=10)


def transparency_log() -> Outcome:
    """``transparency log``: failed, which prevents a start, if the tables contradict what was published."""
    try:
        if settings.PARAPH.log_key:  # a check makes no key
            own_key()
        log.require_extends_store()
        witnesses = len(witness_settings()[0])
    except DomainError as refusal:
        return failed(refusal.message)
    newest = log.published()
    absent = missing(read_note(newest.note)) if newest else []
    waiting = ProofFile.objects.filter(log_index=None).order_by("pk").values_list("created_at", flat=True).first()
    if waiting and clock.now() - waiting > _LATE:
        since = f"Proofs have waited to be in the log since {clock.iso(waiting)}"
        return warning(f"{since}. The log of the workers says why.")
    if absent:
        names = ", ".join(key.name for key in absent)
        return warning(f"The newest checkpoint is not cosigned by {names}. The log of the workers says why.")
    return ok(f"Entries: {newest.size if newest else 0}. Witnesses: {witnesses}.")
