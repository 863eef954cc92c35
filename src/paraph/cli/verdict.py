"""The printed verdict on files that should belong together."""

import click

from paraph.pdf.verification.evidence_check import EvidenceCheck


def show_verdict(result: EvidenceCheck) -> None:
    """Prints whether everything matches, then each match and each problem."""
    click.echo("Everything matches." if result.ok else "NOT everything matches.")
    for sentence in result.matches:
        click.echo(f"  ok: {sentence}")
    for sentence in result.problems:
        click.echo(f"  NOT OK: {sentence}")
