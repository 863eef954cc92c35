"""``paraph check``, ``migrate``, ``secret``, ``storage`` and ``verify-store``: whether the service works, its tables,
its secret, its store."""

from pathlib import Path
from typing import Any

import click

from paraph.cli.options import data_dir_option, json_option, newer_tables_option, operator_options, show, show_lines
from paraph.cli.session import database
from paraph.kernel.settings import read_settings
from paraph.kernel.tokens import sha256


@click.command()
@operator_options
@click.option("--only", "names", multiple=True, help="Run only this check, such as workers or clock. Can be repeated.")
@click.pass_context
def check(context: click.Context, *, as_json: bool, names: tuple[str, ...]) -> None:
    """Test every part of the service, one line each: ok, warning or failed.

    Seals and verifies a test file, asks each timestamp authority, logs in to the gateways. Exits with 0 if nothing
    failed, else with 1.
    """
    with database():
        from paraph.operations.check.service_checks import run_checks, run_lines

        outcomes = run_lines(names) if names else run_checks()
    facts = [{"name": outcome.name, "status": outcome.status, "sentence": outcome.sentence} for outcome in outcomes]
    lines = (f"{outcome.status:<7}  {outcome.name}: {outcome.sentence}" for outcome in outcomes)
    show_lines(facts, lines, as_json=as_json)
    context.exit(1 if any(outcome.status == "failed" for outcome in outcomes) else 0)


@click.command()
@data_dir_option
@newer_tables_option
@json_option
def migrate(*, newer_tables: bool, as_json: bool) -> None:
    """Update the database tables to this version."""
    with database() as operator:
        from paraph.database.migrations import migrate as apply_missing
        from paraph.tenants.admin_log import note

        count = apply_missing(newer_tables=newer_tables)
        if count:
            note(None, operator, "migrate", after={"applied": count})
    show({"applied": count}, as_json=as_json)


@click.group()
def secret() -> None:
    """The secret that all keys of the service derive from."""


@secret.command()
@operator_options
@click.pass_context
def rotate(context: click.Context, *, as_json: bool) -> None:
    """Start using the newest secret, and re-encrypt what earlier ones encrypted, while the service runs.

    Every machine must have both secrets first. Can be repeated; exits with 1 while something is left.
    """
    with database():
        from paraph.operations.secret_rotation import rotate as rotate_secret

        _show_state(context, rotate_secret(), as_json=as_json)


@secret.command()
@operator_options
@click.pass_context
def status(context: click.Context, *, as_json: bool) -> None:
    """Show which secret is in use, and what earlier ones still open; exits with 1 while something is left."""
    with database():
        from paraph.operations.secret_rotation import status as secret_status

        _show_state(context, secret_status(), as_json=as_json)


def _show_state(context: click.Context, found: dict[str, Any], *, as_json: bool) -> None:
    lines = [f"The {found['in_use']} secret is in use" + (f" since {found['since']}." if found["since"] else ".")]
    if found["in_use"] == "earlier":
        lines.append("Once all machines have both, run paraph secret rotate.")
    lines += [f"{word.replace('_', ' ')}: {count} left" for word, count in found["left"].items() if count]
    lines += [f"{name}: no secret of this machine opens it" for name in found["unreadable"]]
    if found["done"]:
        lines.append("Nothing is left: earlier secrets can be taken away from all machines.")
    if found["links_until"]:
        lines.append(f"Codes and addresses of downloads given before may need them until {found['links_until']}.")
    show_lines(found, lines, as_json=as_json)
    context.exit(0 if found["done"] else 1)


_STOP = "Stop after this long; the next run continues there."
_seconds_option = click.option("--seconds", type=click.FloatRange(0), default=float("inf"), help=_STOP)


@click.group()
def storage() -> None:
    """The store of uploads, sealed files and proofs."""


@storage.command()
@_seconds_option
@operator_options
@click.pass_context
def encrypt(context: click.Context, *, seconds: float, as_json: bool) -> None:
    """Encrypt stored files with PARAPH_STORAGE_KEY, while the service runs.

    If an earlier storage key opens a file, only the file's own key is re-encrypted. Continues where the last run
    stopped. Exits with 1 if files are missing or cannot be read.
    """
    with database():
        from django.conf import settings

        from paraph.operations.store import encrypt_store

        progress: Path = settings.DATA_DIR / "storage-encrypt.json"
        found = encrypt_store(progress, seconds)
    _show_store(context, found, f"{found['encrypted']} of them encrypted now.", as_json)


@storage.command()
@click.argument("source")
@click.argument("target")
@_seconds_option
@operator_options
@click.pass_context
def copy(context: click.Context, *, source: str, target: str, seconds: float, as_json: bool) -> None:
    """Copy stored files from SOURCE to TARGET, while the service runs.

    Each is an address as in PARAPH_STORAGE_URL, or "folder" for the one in the data folder. Where there are variables
    such as TARGET_AWS_ENDPOINT_URL, they are the target's alone, and those without TARGET_ the source's. Files that are
    there already are left; each copy is read back. Exits with 1 if files are missing or cannot be read.
    """
    with database():
        from paraph.operations.store import copy_store, opened

        pair = sha256(f"{source} {target}".encode()).hex()[:8]
        progress: Path = read_settings().data_dir / f"storage-copy-{pair}.json"
        found = copy_store(opened(source), opened(target, "TARGET_"), progress, seconds)
    _show_store(context, found, f"{found['copied']} of them copied now; {found['remain']} rows remain.", as_json)


@click.command("verify-store")
@click.option("--rate", type=click.FloatRange(0.1), default=50.0, show_default=True, help="Maximum MB per second.")
@_seconds_option
@click.option("--restart", is_flag=True, help="Start over, even if the last run was stopped.")
@operator_options
@click.pass_context
def verify_store(context: click.Context, *, rate: float, seconds: float, restart: bool, as_json: bool) -> None:
    """Compare every object with its row, and look for objects without one.

    Continues where the last run stopped. Exits with 1 if objects are missing, changed, unreadable, or without a row for
    an hour.
    """
    with database():
        from django.conf import settings

        from paraph.operations.store import verify_store as verify

        progress: Path = settings.DATA_DIR / "verify-store.json"
        if restart:
            progress.unlink(missing_ok=True)
        found = verify(progress, rate * 1_000_000, seconds)
    last = f"{_state(found)}: {found['objects']} objects, {found['bytes']} bytes, {found['found']} problems."
    show_lines(found, [*_problems(found), last], as_json=as_json)
    context.exit(1 if found["found"] else 0)


def _show_store(context: click.Context, found: dict[str, Any], counts: str, as_json: bool) -> None:
    show_lines(found, [*_problems(found), f"{_state(found)}: {found['objects']} objects, {counts}"], as_json=as_json)
    context.exit(1 if found["problems"] else 0)


def _problems(found: dict[str, Any]) -> list[str]:
    return [f"{each['problem']}: {each['key']} ({each['row'] or 'no row'})" for each in found["problems"]]


def _state(found: dict[str, Any]) -> str:
    return "Finished" if found["finished"] else "Stopped; the next run goes on from here"
