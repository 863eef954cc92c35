"""``paraph verify``: what the seals of files cover, who made them, when, and what changed since.

It needs no running service.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import click

from paraph.activity.chain import check_export, is_export
from paraph.cli.verdict import show_verdict
from paraph.kernel.errors import DomainError
from paraph.kernel.settings import read_settings
from paraph.keys.certificates import read_roots
from paraph.keys.trusted_roots import trusted_roots
from paraph.pdf.report import Verification
from paraph.pdf.timestamps.detached_timestamps import DetachedTimestamp, DetachedTimestampsRefused, read_timestamps_file
from paraph.pdf.verification.evidence_check import EvidenceCheck, check_evidence, evidence_of
from paraph.pdf.verification.verify import verify

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


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
    as_json: bool,
) -> None:
    """Verify the seals of PDF files; a proof file is tied to the signed and uploaded files beside it. Of an exported
    activity log, verify that no act is missing or was altered.

    Where several files are given and one is a proof, its evidence must match all the others, in any order.
    Ends with 0 only when every file is sealed, intact, trusted, and unaltered since, or matches, and the evidence
    is about it; else with 1. A file that was altered after an earlier seal and sealed again does not end with 0.
    """
    roots = _roots(root_files, data_dir)
    contents = {str(file): file.read_bytes() for file in files}
    kept = {name: _kept(evidence_files, content) for name, content in contents.items()}
    if len(contents) > 1 and any(evidence_of(content) is not None for content in contents.values()):
        context.exit(0 if _tied(check_evidence(contents, roots, kept, signers), as_json=as_json) else 1)
    all_ok = True
    for file in files:
        if is_export(contents[str(file)]):
            all_ok = _show_export(file, contents[str(file)], as_json=as_json) and all_ok
            continue
        verification = verify(contents[str(file)], roots, kept[str(file)], signers)
        all_ok = all_ok and verification.ok
        if as_json:
            click.echo(json.dumps({"file": str(file), **verification.to_json()}, ensure_ascii=False))
        else:
            _show(file, verification, rooted=bool(roots))
    context.exit(0 if all_ok else 1)


def _kept(evidence_files: Sequence[Path], content: bytes) -> list[DetachedTimestamp]:
    try:
        return [record for file in evidence_files for record in read_timestamps_file(file.read_bytes(), content)]
    except DetachedTimestampsRefused as error:
        raise DomainError("validation_error", str(error)) from error


def _tied(result: EvidenceCheck, *, as_json: bool) -> bool:
    if as_json:
        click.echo(json.dumps(result.to_json(), ensure_ascii=False))
        return result.ok
    show_verdict(result)
    return result.ok


def _show_export(file: Path, content: bytes, *, as_json: bool) -> bool:
    check = check_export(content)
    if as_json:
        click.echo(json.dumps({"file": str(file), **check.to_json()}, ensure_ascii=False))
    else:
        click.echo(f"{file}: {'valid' if check.ok else 'NOT VALID'}")
        click.echo(f"  {check.acts} acts follow from each other. {check.problem}".rstrip())
    return check.ok


def _roots(root_files: Sequence[Path], data_dir: Path) -> list[bytes]:
    if not root_files:
        return trusted_roots(read_settings(), data_dir / "keys")
    return [root for file in root_files for root in read_roots(file)]


def _show(file: Path, verification: Verification, *, rooted: bool) -> None:
    click.echo(f"{file}: {'valid' if verification.ok else 'NOT VALID'}")
    if verification.level:
        count = len(verification.signatures)
        click.echo(f"  PAdES level {verification.level}, {count} signature{'s' if count > 1 else ''}.")
    for finding in verification.findings:
        click.echo(f"  {finding}")
    if not rooted and verification.signatures:
        click.echo("  No root is trusted: name one with --root, or the service's folder with --data-dir.")
