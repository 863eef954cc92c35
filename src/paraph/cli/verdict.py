"""The printed verdict on files that should belong together."""

import click

from paraph.pdf.report import EvidenceCheck


def show_verdict(result: EvidenceCheck) -> None:
    """Print whether everything matches, then each match, what was not given, and each problem."""
    everything = "Everything that was given matches." if result.notes else "Everything matches."
    click.echo(everything if result.ok else "NOT everything matches.")
    for sentence in result.matches:
        click.echo(f"  ok: {sentence}")
    for sentence in result.notes:
        click.echo(f"  not compared: {sentence}")
    for sentence in result.problems:
        click.echo(f"  NOT OK: {sentence}")
