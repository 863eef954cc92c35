"""``paraph log``: this installation's transparency log, and audits of others."""

from hashlib import file_digest
from pathlib import Path
from typing import Any

import click

from paraph.cli.options import json_option, operator_options, say, show, show_lines
from paraph.cli.session import database
from paraph.kernel.errors import DomainError

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group("log")
def command() -> None:
    """The transparency log of all production proofs."""


@command.command("show")
@operator_options
def show_(*, as_json: bool) -> None:
    """Show the log's key, its newest checkpoint, and how many proofs wait for it."""
    with database():
        from paraph.evidence.models import ProofFile
        from paraph.transparency import log
        from paraph.transparency.own_key import own_key

        newest, key = log.published(), own_key()
        facts: dict[str, Any] = {
            "key": str(key.log),
            "witness_key": str(key.witness),
            "size": newest.size if newest else 0,
            "waiting": ProofFile.objects.filter(log_index=None).count(),
            "checkpoint": newest.note if newest else None,
        }
    show(facts, as_json=as_json)


@command.command()
@operator_options
def rebuild(*, as_json: bool) -> None:
    """Take over what the object store has of the log, into a database that was restored from an older backup.

    Nothing is published that contradicts what was published before. Proofs that are not in the log are appended anew.
    """
    with database():
        from paraph.transparency.rebuild import rebuild

        taken, dropped = rebuild()
    lines = [f"{taken} entries were taken over from the object store, in the place of {dropped}."]
    show_lines({"taken_over": taken, "dropped": dropped}, lines, as_json=as_json)


@command.command()
@click.argument("url")
@click.option("--key", "key_text", help="The log's verifier key, NAME+ID+KEY. Without it, the log's word is taken.")
@click.option("--policy", "policy_file", type=_FILE, help="Policy file (C2SP tlog-policy): logs, witnesses, quorum.")
@click.option("--earlier", "earlier_file", type=_FILE, help="A checkpoint seen before, which the log has to extend.")
@click.option("--contains", "files", multiple=True, type=_FILE, help="A proof that has to be in it. Can be repeated.")
@click.option("--save", "save_file", type=click.Path(dir_okay=False, path_type=Path), help="Keep the checkpoint here.")
@json_option
@click.pass_context
def verify(
    context: click.Context,
    url: str,
    *,
    key_text: str | None,
    policy_file: Path | None,
    earlier_file: Path | None,
    files: tuple[Path, ...],
    save_file: Path | None,
    as_json: bool,
) -> None:
    """Audit the log at URL, https://HOST/transparency, whole.

    Every entry is read and hashed, and has to lead to the root that the log signed. Exits with 0 only if everything
    holds; else with 1, and says what does not. Needs no running service.
    """
    from paraph.transparency.audit import audit, fetching, offered_key
    from paraph.transparency.merkle import ProofRefused
    from paraph.transparency.notes import LOG, read_key
    from paraph.transparency.proof import read_policy

    digests = {file: _digest(file) for file in files}
    try:
        with fetching(url) as fetch:
            policy = read_policy(_content(policy_file)) if policy_file else None
            key = read_key(key_text, LOG) if key_text else offered_key(fetch)
            earlier = _content(earlier_file) if earlier_file else ""
            found = audit(fetch, key, policy=policy, earlier=earlier, digests=frozenset(digests.values()))
    except ProofRefused as refused:
        show_lines({"ok": False, "problem": str(refused)}, [], as_json=as_json)
        if not as_json:
            say(f"NOT OK: {refused}")
        context.exit(1)
    places = {str(file): found.found.get(digest) for file, digest in digests.items()}
    ok = None not in places.values()
    if ok and save_file:
        save_file.write_text(found.note)
    result = {"ok": ok, "origin": found.checkpoint.origin, "size": found.checkpoint.size, "entries": places}
    if as_json:
        show_lines(result, [], as_json=True)
    else:
        for name, place in places.items():
            say(f"NOT OK: {name} is not in the log." if place is None else f"ok: {name} is entry {place}.")
        say(f"{found.checkpoint.origin}: the {found.checkpoint.size} entries lead to the root that the log signed.")
    context.exit(0 if ok else 1)


def _digest(file: Path) -> bytes:
    with file.open("rb") as opened:
        return file_digest(opened, "sha256").digest()


def _content(file: Path) -> str:
    try:
        return file.read_text()
    except UnicodeDecodeError as error:
        raise DomainError("validation_error", f"{file} is no text in UTF-8.") from error
