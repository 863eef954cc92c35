"""``paraph verify``: what the seals of files cover, who made them, when, and what changed since.

It needs no running service.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from hashlib import file_digest
from io import BufferedRandom, BufferedReader
from pathlib import Path
from tempfile import TemporaryFile
from typing import NamedTuple

import click

from paraph.cli.verdict import show_verdict
from paraph.kernel.errors import DomainError
from paraph.kernel.settings import read_settings
from paraph.keys.certificates import read_roots
from paraph.keys.sealing import trusted_roots
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.report import EvidenceCheck, Verification
from paraph.pdf.timestamps.detached_timestamps import DetachedTimestamp, DetachedTimestampsRefused
from paraph.pdf.untrusted.verify import carries_evidence, check_evidence, read_timestamps, told, verify
from paraph.tenants.admin_log.read_export import START, check_export, is_export

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_PIECE, _LARGEST = 1 << 20, 512 << 20
_File = BufferedReader | BufferedRandom


class _Shown(NamedTuple):
    details: bool
    as_json: bool


@click.command("verify")
@click.argument("files", nargs=-1, required=True, type=_FILE)
@click.option("--root", "root_files", multiple=True, type=_FILE, help="PEM file of the roots to trust, and no others.")
@click.option(
    "--data-dir",
    envvar="PARAPH_DATA_DIR",
    default="paraph-data",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the service whose roots to trust where no --root is given.  [paraph-data]",
)
@click.option(
    "--evidence",
    "evidence_files",
    multiple=True,
    type=_FILE,
    help="Timestamps kept beside the files: what paraph request evidence wrote, or one RFC 3161 token.",
)
@click.option(
    "--signer",
    "signers",
    multiple=True,
    metavar="NAME|FINGERPRINT",
    help="Who must have sealed the files, and nobody else: the common name or the whole subject of the certificate, or "
    "its SHA-256. May be given several times.",
)
@click.option("--details", is_flag=True, help="Tell every statement that holds, not only who sealed what.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per file, for programs.")
@click.pass_context
def command(
    context: click.Context,
    files: Sequence[Path],
    *,
    root_files: Sequence[Path],
    data_dir: Path,
    evidence_files: Sequence[Path],
    signers: Sequence[str],
    details: bool,
    as_json: bool,
) -> None:
    """Verify the seals of PDF files; a proof file is tied to the signed and uploaded files beside it. Of an exported
    activity log, verify that no entry is missing or was altered.

    Where several files are given and one is a proof, its evidence must match all the others, in any order; files of
    its documents that are not given are named. Ends with 0 only when every file that is given is sealed, intact,
    trusted, and unaltered since, or matches, and the evidence is about it; else with 1. A file that was altered after
    an earlier seal and sealed again does not end with 0.
    """
    roots = _roots(root_files, data_dir)
    with ExitStack() as stack:
        opened = {str(file): _opened(file, stack) for file in files}
        kept = _kept(evidence_files, opened)
        tied = _tied(opened, roots, kept, signers)
        if tied is not None:
            _show_tied(tied, details=details, as_json=as_json)
            context.exit(0 if tied.ok else 1)
        show = _Shown(details=details, as_json=as_json)
        every = [_verify(str(file), opened[str(file)], roots, kept, signers, show=show) for file in files]
        context.exit(0 if all(every) else 1)


def _opened(path: Path, stack: ExitStack) -> _File:
    """Open a file; of a pipe, which can be read once only, a copy of as much as can be valid."""
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
    digests = [file_digest(file, "sha256").digest() for file in files.values()] if evidence_files else []
    for path in evidence_files:
        try:
            with ExitStack() as stack:
                found = read_timestamps(_opened(path, stack), digests)
        except DetachedTimestampsRefused as error:
            raise DomainError("validation_error", str(error)) from error
        for name, records in zip(files, found, strict=True):
            kept[name] += records
    return kept


def _tied(
    files: Mapping[str, _File],
    roots: Sequence[bytes],
    kept: Mapping[str, Sequence[DetachedTimestamp]],
    signers: Sequence[str],
) -> EvidenceCheck | None:
    """Return whether the files belong together, where there are several and one carries evidence; else ``None``."""
    if len(files) == 1:
        return None
    for name, file in files.items():
        try:
            if carries_evidence(file):
                return check_evidence(files, roots, kept, signers)
        except PdfRefused as refused:
            return EvidenceCheck(problems=[told(name, refused)])
    return None


def _show_tied(result: EvidenceCheck, *, details: bool, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(result.to_json(), ensure_ascii=False))
    else:
        show_verdict(result, details=details)


def _verify(
    name: str,
    file: _File,
    roots: Sequence[bytes],
    kept: Mapping[str, Sequence[DetachedTimestamp]],
    signers: Sequence[str],
    *,
    show: _Shown,
) -> bool:
    if not signers and is_export(file.peek(START)):  # nobody seals an export
        return _verify_export(name, file, as_json=show.as_json)
    verification = verify(file, roots, kept[name], signers)
    if show.as_json:
        click.echo(json.dumps({"file": name, **verification.to_json()}, ensure_ascii=False))
    else:
        _show(name, verification, details=show.details, rooted=bool(roots))
        if verification.purpose is not None and verification.purpose.kind == "proof":
            click.echo("  It is a proof of other files, which were not given, so nothing was compared with it.")
    return verification.ok


def _verify_export(name: str, file: _File, *, as_json: bool) -> bool:
    check = check_export(file)
    if as_json:
        click.echo(json.dumps({"file": name, **check.to_json()}, ensure_ascii=False))
    else:
        click.echo(f"{name}: {'valid' if check.ok else 'NOT VALID'}")
        told = f"Of this export of an activity log, {check.entries} entries follow from each other."
        click.echo(f"  {told} {check.problem}".rstrip())
    return check.ok


def _roots(root_files: Sequence[Path], data_dir: Path) -> list[bytes]:
    if not root_files:
        return trusted_roots(read_settings(), data_dir / "keys")
    return [root for file in root_files for root in read_roots(file)]


def _show(name: str, verification: Verification, *, details: bool, rooted: bool) -> None:
    click.echo(f"{name}: {'valid' if verification.ok else 'NOT VALID'}")
    if verification.level:
        count = len(verification.signatures)
        click.echo(f"  PAdES level {verification.level}, {count} signature{'s' if count > 1 else ''}.")
    for finding in verification.findings if details else verification.short_findings:
        click.echo(f"  {finding}")
    if not rooted and verification.signatures:
        click.echo("  No root is trusted: name one with --root, or the service's folder with --data-dir.")
