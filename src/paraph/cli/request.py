"""``paraph request``: list, show, retry, cancel, evidence."""

from pathlib import Path
from shutil import copyfileobj
from typing import Any, BinaryIO

import click

from paraph.cli.options import last_outcome, operator_options, show_lines
from paraph.cli.options import show as show_facts
from paraph.cli.session import database

_REASON = "Mailed to those who were invited. Kept permanently in the journal and in webhooks; please don't name people."


@click.group()
def command() -> None:
    """Signature requests: why one waits, and trying again."""


@command.command("list")
@click.option("--failed", is_flag=True, help="Only those that are no longer retried automatically.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True, help="How many at most.")
@operator_options
def list_(*, failed: bool, limit: int, as_json: bool) -> None:
    """Show requests that an error keeps from being finalized, oldest first."""
    with database():
        from paraph.evidence.failures import sealing_failures

        failures = sealing_failures(given_up_only=failed, limit=limit)
    none = "No request waits for a retry by hand." if failed else "No request is kept from being finalized."
    show_lines(failures, map(_failure, failures) if failures else [none], as_json=as_json)


@command.command()
@click.argument("id", type=int)
@operator_options
def show(id: int, *, as_json: bool) -> None:
    """Show everything about a request, and why it waits."""
    with database():
        from paraph.operations.request_state import request_state

        state = request_state(id)
    show_lines(state, lines_of(state), as_json=as_json)


@command.command()
@click.argument("id", type=int, required=False)
@click.option("--all", "every", is_flag=True, help="Every completed request that is not finalized.")
@operator_options
def retry(id: int | None, *, every: bool, as_json: bool) -> None:
    """Retry now what a request still lacks: seals, proof, publication, mails."""
    if (id is None) != every:
        raise click.UsageError("Give the ID of a request, or --all.")
    with database():
        from paraph.operations.pending_work import retry as retry_request
        from paraph.operations.pending_work import retry_all

        if id is None:
            show_facts({"retried": retry_all()}, as_json=as_json)
            return
        retried = retry_request(id)
    lines = [f"{step.outcome}: {step.words}" for step in retried] or ["Nothing is missing that the service could do."]
    show_lines([vars(step) for step in retried], lines, as_json=as_json)


@command.command()
@click.argument("id", type=int)
@click.option("--reason", required=True, help=_REASON)
@operator_options
def cancel(id: int, reason: str, *, as_json: bool) -> None:
    """Withdraw a request. Its signers can no longer sign, signatures given so far don't count, and those who were
    invited are told."""
    with database() as operator:
        from paraph.flow.ending import end_early

        request = end_early(operator, id, reason)
        show_facts({"id": id, "status": request.status, "ended_early": True, "reason": reason}, as_json=as_json)


@command.command()
@click.argument("id", type=int)
@click.option("--out", type=click.File("wb"), default="-", help="File to write.  [standard output]")
@click.option("--bundle", type=click.Path(dir_okay=False), help="File to write all evidence to, as a ZIP archive.")
@operator_options
def evidence(id: int, *, out: BinaryIO, bundle: str | None, as_json: bool) -> None:
    """Write the timestamps kept beside a request's files as JSON, for paraph verify --evidence; or with --bundle the
    files too, and all that checking them needs, in one archive."""
    with database():
        from paraph.bundle.make import open_bundle
        from paraph.operations.request_state import request_evidence

        if bundle is None:
            out.write(request_evidence(id) + b"\n")
            return
        with open_bundle(id) as made, Path(bundle).open("wb") as file:
            copyfileobj(made, file)
        show_facts({"id": id, "bundle": bundle, "bytes": Path(bundle).stat().st_size}, as_json=as_json)


def _failure(row: dict[str, Any]) -> str:
    state = "given up" if row["given_up"] else "tried again"
    where = f"{row['organization']} ({row['organization_id']}), {row['environment']}"
    tried = f"{row['attempts']} attempt{'s' if row['attempts'] != 1 else ''}, {state}"
    return f"{row['request_id']}  {where}  {row['stage']}  {tried}  {row['cause']}"


def lines_of(state: dict[str, Any]) -> list[str]:
    """Render the result of :func:`~paraph.operations.request_state.request_state` as lines of text."""
    finalized = ", finalized" if state["finalized"] else ""
    lines = [f"Request {state['id']}: {state['status']}{finalized} ({state['mode']}, {state['environment']})"]
    lines += [f"  {state['why']}", f"  created {state['created_at']}, expires {state['expires_at']}"]
    if state["external_id"]:
        lines.append(f"  external id {state['external_id']}")
    lines += [f"  {key}: {value}" for key, value in state["metadata"].items()]
    if state["redirect_url"]:
        lines.append(f"  signers continue to {state['redirect_url']}")
    if state["decline_allowed"]:
        lines.append("  signers may decline")
    if rule := state["reminders"]:
        lines.append(f"  reminders every {rule['every_days']} days, at most {rule['at_most']}")
    lines.append("Signers")
    for signer in state["signers"]:
        moment = signer["signed_at"] or signer["notified_at"] or ""
        who = f"{signer['full_name']} <{signer['email']}>{', who approves' if signer['role'] == 'approver' else ''}"
        lines.append(f"  {signer['order']}. {who}  {signer['status']}  {moment}")
        if wrong := signer["wrong_codes"]:
            lock = f", locked until {wrong['locked_until']}" if wrong["locked_until"] else ""
            lines.append(f"     wrong codes: {wrong['count']}{lock}")
        if waiting := signer["put_off"]:
            lines.append(f"     {waiting['mail']} put off until {waiting['until']}: {waiting['reason']}")
        if state["declined_by"] == signer["id"]:
            lines.append("     declined")
        for field in signer["fields"]:
            value = {None: "no value", True: "ticked", False: "not ticked"}.get(field["value"], field["value"])
            of = f"{field['label']} ({field['type']}, document {field['document_id']})"
            lines.append(f"     {of}: {' / '.join(value.splitlines())}")
    if state["copies"]:
        lines.append("Copies")
        lines += [f"  {copy['full_name']} <{copy['email']}>  {copy['notified_at'] or ''}" for copy in state["copies"]]
    lines.append("Documents")
    for document in state["documents"]:
        sealed = f"sealed {document['seal']['sealed_at']}" if document["seal"] else "not sealed"
        lines.append(f"  {document['id']}  {document['name']}  {sealed}")
    lines.append(f"Proof\n  {'issued ' + state['proof']['sealed_at'] if state['proof'] else 'not issued'}")
    if failure := state["sealing_failure"]:
        lines.append(f"Fault\n  {failure['stage']}, {failure['attempts']} attempts, {failure['failed_at']}")
        lines.append(f"  {failure['cause']}")
    lines += _rows("Jobs", state["jobs"], "id", "task", "status", "attempts", "scheduled_at")
    deliveries = [{**each, "outcome": last_outcome(each)} for each in state["deliveries"]]
    lines += _rows("Deliveries", deliveries, "id", "event", "status", "attempts", "outcome", "url")
    broken = state["journal_broken_at"]
    title = "Journal" if broken is None else f"Journal, WHOSE CHAIN IS BROKEN AT ENTRY {broken}"
    return lines + _rows(title, state["journal"], "created_at", "event_type", "signer_id")


def _rows(title: str, rows: list[dict[str, Any]], *names: str) -> list[str]:
    shown = ["  " + "  ".join("" if row[name] is None else str(row[name]) for name in names) for row in rows]
    return [title, *(shown or ["  none"])]
