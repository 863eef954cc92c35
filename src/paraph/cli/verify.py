"""``paraph verify``: what the seals of files cover, who made them, when, and what changed since. It needs no running
service."""

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, time
from hashlib import file_digest
from io import BufferedRandom, BufferedReader
from pathlib import Path
from tempfile import TemporaryFile

import click
from cryptography.hazmat.primitives.serialization import Encoding

from paraph import words
from paraph.cli.options import say, visible
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.kernel.settings import read_settings
from paraph.keys.certificates import certificates_of, read_roots
from paraph.keys.sealing import trusted_roots
from paraph.outbound.exchange import FetchFailed, NetworkAccess, fetch
from paraph.pdf.report import EvidenceCheck, Verification
from paraph.pdf.timestamps.detached_timestamps import START_OF_TOKEN, DetachedTimestamp, DetachedTimestampsRefused
from paraph.pdf.untrusted.verify import (
    INCLUSION_ALONE,
    PROOF_ALONE,
    check_bundle,
    check_evidence,
    read_timestamps,
    together,
    verify,
)
from paraph.pdf.verdict import Fault
from paraph.transparency.audit import Places
from paraph.transparency.merkle import ProofRefused
from paraph.transparency.notes import read_policy

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_PIECE, _LARGEST, _LARGEST_ROOTS = 1 << 20, 512 << 20, 1 << 20
_LONGEST_DATE = len("2026-W48-7")
_File = BufferedReader | BufferedRandom
_ROOT_HELP = "PEM file of the only roots to trust, or its address, such as a service's /verify/roots.pem."
_EVIDENCE_HELP = "Timestamps kept beside the files: the output of paraph request evidence, or one RFC 3161 token."
_SIGNER_HELP = "The only signer to accept: common name, full subject, or SHA-256 of the certificate. Can be repeated."
_AT_HELP = "Whether it held then: an ISO 8601 date, which means its end in UTC, or timestamp."
_NO_ROOT = (
    "No root is trusted: name the PEM file of the service's root with --root, or on its machine the folder with "
    "--data-dir. That of paraph serve is paraph-data/keys/development/root.pem."
)


@click.command("verify")
@click.argument("files", nargs=-1, required=True, type=_FILE)
@click.option("--root", "root_files", multiple=True, metavar="FILE|https://…", help=_ROOT_HELP)
@click.option(
    "--data-dir",
    envvar="PARAPH_DATA_DIR",
    default="paraph-data",
    type=click.Path(path_type=Path, file_okay=False),
    help="Data folder of the service whose roots are trusted if no --root is given.  [paraph-data]",
)
@click.option("--evidence", "evidence_files", multiple=True, type=_FILE, help=_EVIDENCE_HELP)
@click.option("--signer", "signers", multiple=True, metavar="NAME|FINGERPRINT", help=_SIGNER_HELP)
@click.option("--at", metavar="TIME", callback=lambda _, __, given: _past(given), help=_AT_HELP)
@click.option("--log", "log_url", metavar="URL", help="Log that has to contain each proof: https://HOST/transparency.")
@click.option("--inclusion", type=_FILE, help="Proof of inclusion (transparency.proof) to check by --log or --policy.")
@click.option("--policy", type=_FILE, help="Policy file (C2SP tlog-policy): the logs, witnesses and quorum to believe.")
@click.option("--each", is_flag=True, help="Verify each file on its own, even if none is a proof.")
@click.option("--details", is_flag=True, help="Show every statement that holds, not only who sealed what.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per file, for programs.")
@click.pass_context
def command(
    context: click.Context,
    files: Sequence[Path],
    *,
    root_files: Sequence[str],
    data_dir: Path,
    evidence_files: Sequence[Path],
    signers: Sequence[str],
    at: datetime | None,
    log_url: str | None,
    inclusion: Path | None,
    policy: Path | None,
    each: bool,
    details: bool,
    as_json: bool,
) -> None:
    """Verify the seals of PDF files, and match a proof with the signed and uploaded files given beside it; or verify a
    bundle of evidence, which has them all.

    If several files are given, one of them must be a proof, and its evidence must match all the others, in any order;
    files of its documents that are not given are named. With --each, each file is verified on its own. Exits with 0
    only if every file is sealed, intact, trusted and unaltered since, or matches the evidence; else with 1. A file that
    was altered after an earlier seal and sealed again does not pass. First is said whether it holds, was altered or
    forged, or cannot be told, and why. Without --log, nothing is asked over the network.
    """
    roots = _roots(root_files, data_dir)
    with ExitStack() as stack, together(len(files)):
        opened = {str(file): _opened(file, stack) for file in files}
        [first, *others] = opened.values()
        is_bundle = not others and first.peek(4).startswith(b"PK\3\4")
        if is_bundle and evidence_files:
            raise click.UsageError("A bundle contains its own evidence: leave --evidence out.")
        kept = _kept(evidence_files, opened)
        places = _places(log_url, policy, inclusion, is_bundle=is_bundle)
        if is_bundle or (others and not each):
            if is_bundle:
                what, tied = "The bundle", check_bundle(first, roots, signers, at=at)
            else:
                what, tied = "The proof with its files", check_evidence(opened, roots, kept, signers, at=at)
            if others and tied.faults and not tied.sealed:  # none is a proof
                told = f"{tied.faults[0].sentence.removesuffix('.')}; with --each, each file is verified by itself."
                tied.faults[0] = replace(tied.faults[0], sentence=told)
            if not roots:
                tied.fault(_NO_ROOT, "NO_CERTIFICATE_CHAIN_FOUND")
            logged = _note_places(tied, places, opened)
            if as_json:
                click.echo(json.dumps(tied.to_json()))
            else:
                _show_verdict(what, tied, logged, details=details)
            context.exit(0 if tied.ok else 1)
        logs, valid = places.of(_digests(opened)) if places.asked else {}, 0
        for name, file in opened.items():
            found = verify(file, roots, kept[name], signers, at=at)
            more = [*([] if roots else [_NO_ROOT]), *([PROOF_ALONE] if _is_proof(found) else [])]
            found = replace(found, findings=[*found.findings, *more])
            found = _with_log(found, logs[name]) if logs else found
            valid += found.ok
            _show(name, found, details=details, as_json=as_json)
        if len(opened) > 1 and not as_json:
            say(f"All {valid} files hold." if valid == len(opened) else f"{valid} of {len(opened)} files hold.")
        context.exit(0 if valid == len(opened) else 1)


def _past(given: str | None) -> datetime | None:
    """Read a time in the past. A timestamp without a zone is in UTC; a date counts until its end."""
    if given is None:
        return None
    try:
        moment = datetime.fromisoformat(given)
        if len(given) <= _LONGEST_DATE:
            moment = datetime.combine(moment, time.max)
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError) as error:
        raise click.BadParameter(f"{visible(given)} is neither a date nor a timestamp of ISO 8601.") from error
    if moment > clock.now():
        raise click.BadParameter(f"{clock.iso(moment)} is still to come.")
    return moment


def _opened(path: Path, stack: ExitStack) -> _File:
    """Open a file. A pipe can be read only once, so return a copy of it, cut at the size of the largest valid file."""
    file = stack.enter_context(path.open("rb"))
    if file.seekable():
        return file
    copy, left = stack.enter_context(TemporaryFile()), _LARGEST  # noqa: SIM115  the stack is one
    while left > 0 and (piece := file.read(min(left, _PIECE))):
        left -= copy.write(piece)
    copy.seek(0)
    return copy


def _kept(evidence_files: Sequence[Path], files: Mapping[str, _File]) -> dict[str, list[DetachedTimestamp]]:
    kept: dict[str, list[DetachedTimestamp]] = {name: [] for name in files}
    for path in evidence_files:
        try:
            with ExitStack() as stack:
                opened = _opened(path, stack)
                is_token = opened.peek(1)[:1] == START_OF_TOKEN
                found = {name: read_timestamps(opened, file, kept[name]) for name, file in files.items()}
                if is_token and not any(found.values()):
                    raise DetachedTimestampsRefused(f"{visible(path.name)} is a timestamp of none of the files.")
                for name, records in found.items():
                    kept[name] += records
        except DetachedTimestampsRefused as error:
            raise DomainError("validation_error", str(error)) from error
    return kept


def _places(url: str | None, policy: Path | None, inclusion: Path | None, *, is_bundle: bool) -> Places:
    if is_bundle and inclusion:
        raise click.UsageError("A bundle contains its own proof of inclusion: leave --inclusion out.")
    if inclusion and not (url or policy):
        raise click.UsageError("--inclusion needs --log or --policy.")
    if policy and not (url or inclusion or is_bundle):
        raise click.UsageError("--policy needs --log or --inclusion.")
    try:
        believed = read_policy(policy.read_bytes().decode(errors="replace")) if policy else None
    except ProofRefused as refused:
        raise DomainError("validation_error", str(refused)) from refused
    return Places(url or "", believed, inclusion.read_bytes().decode(errors="replace") if inclusion else None)


def _note_places(tied: EvidenceCheck, places: Places, files: Mapping[str, _File]) -> list[str]:
    """Note whether logs have the proof; return the sentences of those that do."""
    if not places.asked:
        if tied.inclusion and tied.inclusion.text is not None:
            tied.notes.append(INCLUSION_ALONE)
        return []
    if tied.inclusion:
        return places.note_bundle(tied, tied.inclusion)
    digests = _digests({name: file for name, file in files.items() if name in tied.sealed})
    return places.note(tied, {name: digest for name, digest in digests.items() if _is_proof(tied.sealed[name])})


def _digests(files: Mapping[str, _File]) -> dict[str, bytes]:
    return {name: file_digest(file, "sha256").digest() for name, file in files.items()}


def _with_log(found: Verification, place: str | Fault) -> Verification:
    if isinstance(place, str):
        return replace(found, findings=[*found.findings, place])
    return replace(found, findings=[*found.findings, place.sentence], faults=[*found.faults, place])


def _is_proof(found: Verification) -> bool:
    return found.purpose is not None and found.purpose.kind == "proof"


def _roots(root_files: Sequence[str], data_dir: Path) -> list[bytes]:
    if not root_files:
        return trusted_roots(read_settings(), data_dir / "keys")
    return [root for file in root_files for root in (_fetched(file) if "://" in file else read_roots(Path(file)))]


def _fetched(address: str) -> list[bytes]:
    settings = read_settings()
    network = NetworkAccess(settings.private_addresses_allowed, settings.outbound_proxy)
    try:
        content = fetch(address, network, seconds=10, limit=_LARGEST_ROOTS, schemes=["https"])
    except FetchFailed as error:
        raise DomainError("validation_error", f"{visible(address)}: {error}.") from error
    return [root.public_bytes(Encoding.DER) for root in certificates_of(content, visible(address))]


def _show(name: str, verification: Verification, *, details: bool, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({"file": name, **verification.to_json()}))
        return
    verdict = verification.verdict
    say(f"{name}: {_describe(verification)}{f': {verdict.why}' if verdict.why else '.'}")
    if verification.level:
        count = len(verification.signatures)
        say(f"  PAdES level {verification.level}, {count} signature{'s' if count > 1 else ''}.")
    for finding in verification.findings if details else verification.short_findings:
        if finding != verdict.why:
            say(f"  {finding}")


def _describe(result: Verification | EvidenceCheck) -> str:
    word = words.of("verdict", words.DEFAULT_LOCALE)[result.verdict.word]
    return f"{word}, as of {clock.iso(result.as_of)}" if result.as_of else word


def _show_verdict(what: str, result: EvidenceCheck, logged: Sequence[str], *, details: bool) -> None:
    """Print the verdict; then who sealed each file and which logs have the proof, or with ``details`` every match; then
    what was not compared, each problem, and finally whether everything matches."""
    say(f"{what}: {_describe(result)}.")
    matches = result.matches
    if matches and not details:
        sealed = [_sealed(name, each) for name, each in result.sealed.items() if each.ok]
        matches = [*sealed, *logged, f"{len(matches)} statements in all; --details tells each of them."]
    for sentence in matches:
        say(f"  ok: {sentence}")
    for sentence in result.notes:
        say(f"  not compared: {sentence}")
    for sentence in result.problems:
        say(f"  NOT OK: {sentence}")
    everything = "Everything that was given matches." if result.notes else "Everything matches."
    say(everything if result.ok else "NOT everything matches.")


def _sealed(name: str, verification: Verification) -> str:
    purpose = f" as {verification.purpose}" if verification.purpose else ""
    return f'{name} is sealed by "{verification.signer}"{purpose}, intact and trusted.'
