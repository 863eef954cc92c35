"""``paraph log``: this installation's transparency log, and audits of others."""

from typing import TextIO

import click

from paraph.cli.options import operator_options, show, show_lines, visible
from paraph.cli.session import database
from paraph.kernel.errors import DomainError

_FILE = click.File(encoding="utf-8", errors="replace")


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
        from paraph.transparency.witnesses import own_key

        newest, key = log.published(), own_key()
        waiting = ProofFile.objects.filter(log_index=None).count()
        size, note = (newest.size, newest.note) if newest else (0, "")
    facts = {"key": str(key.log), "witness_key": str(key.witness), "size": size, "waiting": waiting}
    show(facts | {"checkpoint": note}, as_json=as_json)


@command.command()
@operator_options
def rebuild(*, as_json: bool) -> None:
    """Take over what the object store has of the log, into a database that was restored from an older backup.

    Nothing is published that contradicts what was published before. Proofs that are not in the log are appended anew.
    """
    with database():
        from paraph.transparency.log import rebuild

        taken, dropped = rebuild()
    lines = [f"Entries taken over from the object store: {taken}, in the place of {dropped}."]
    show_lines({"taken_over": taken, "dropped": dropped}, lines, as_json=as_json)


@command.command()
@click.argument("url")
@click.option("--key", "key_text", help="The log's verifier key, NAME+ID+KEY. Without it, the log's word is taken.")
@click.option("--policy", type=_FILE, help="Policy file (C2SP tlog-policy): logs, witnesses, quorum.")
@click.option("--earlier", type=_FILE, help="A checkpoint or proof of inclusion that the log has to extend.")
@operator_options
def verify(url: str, *, key_text: str | None, policy: TextIO | None, earlier: TextIO | None, as_json: bool) -> None:
    """Audit the log at URL, https://HOST/transparency, whole.

    Every entry is read and hashed, and has to lead to the root that the log signed. Exits with 0 only if everything
    holds; else with 1, and says what does not. Needs no running service.
    """
    from paraph.transparency.audit import audit, fetching, offered_key
    from paraph.transparency.merkle import ProofRefused
    from paraph.transparency.notes import LOG, Policy, read_key, read_policy

    try:
        trusted = read_policy(policy.read()) if policy else Policy(quorum="")
        with fetching(url) as fetch:
            if key_text or not trusted.logs:
                trusted.logs = [read_key(key_text, LOG) if key_text else offered_key(fetch)]
            found = audit(fetch, trusted, earlier.read() if earlier else "")[0]
    except ProofRefused as refused:
        raise DomainError("validation_error", f"NOT OK: {refused}") from refused
    lines = [visible(f"{found.origin}: all entries, {found.size}, lead to the root that the log signed.")]
    show_lines({"ok": True, "origin": found.origin, "size": found.size}, lines, as_json=as_json)
