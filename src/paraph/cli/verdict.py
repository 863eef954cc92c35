"""What is printed of files that others made: the verdict is the last line, and nothing else can look like it."""

import click

from paraph.pdf.report import EvidenceCheck, Verification


def say(line: str) -> None:
    """Print a line that may hold names which others chose: what would begin another line, turn the direction of the
    text, or be obeyed by a terminal, is written as its escape in Python (``\\n``, ``\\u202e``, ``\\x1b``)."""
    click.echo(visible(line))


def visible(text: str) -> str:
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def show_verdict(result: EvidenceCheck, *, details: bool = False) -> None:
    """Print who sealed what, or each match with ``details``; what was not given, each problem, and last whether
    everything matches."""
    for sentence in _matches(result, details=details):
        say(f"  ok: {sentence}")
    for sentence in result.notes:
        say(f"  not compared: {sentence}")
    for sentence in result.problems:
        say(f"  NOT OK: {sentence}")
    everything = "Everything that was given matches." if result.notes else "Everything matches."
    say(everything if result.ok else "NOT everything matches.")


def _matches(result: EvidenceCheck, *, details: bool) -> list[str]:
    if details or not result.matches:
        return result.matches
    sealed = [_sealed(name, each) for name, each in result.sealed.items() if each.ok]
    return [*sealed, f"{len(result.matches)} statements in all; --details tells each of them."]


def _sealed(name: str, verification: Verification) -> str:
    purpose = f" as {verification.purpose}" if verification.purpose else ""
    return f'{name} is sealed by "{verification.signer}"{purpose}, intact and trusted.'
