"""The printed verdict on files that should belong together."""

import click

from paraph.pdf.report import EvidenceCheck, Verification


def show_verdict(result: EvidenceCheck, *, details: bool = False) -> None:
    """Print whether everything matches, then who sealed what, or each match with ``details``; what was not given, and
    each problem."""
    everything = "Everything that was given matches." if result.notes else "Everything matches."
    click.echo(everything if result.ok else "NOT everything matches.")
    for sentence in _matches(result, details=details):
        click.echo(f"  ok: {sentence}")
    for sentence in result.notes:
        click.echo(f"  not compared: {sentence}")
    for sentence in result.problems:
        click.echo(f"  NOT OK: {sentence}")


def _matches(result: EvidenceCheck, *, details: bool) -> list[str]:
    if details or not result.matches:
        return result.matches
    sealed = [_sealed(name, each) for name, each in result.sealed.items() if each.ok]
    return [*sealed, f"{len(result.matches)} statements in all; --details tells each of them."]


def _sealed(name: str, verification: Verification) -> str:
    purpose = f" as {verification.purpose}" if verification.purpose else ""
    return f'{name} is sealed by "{verification.signer}"{purpose}, intact and trusted.'
