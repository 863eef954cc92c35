"""Options that several commands share. Their values are exported as environment variables, which the settings of this
process and of its children read."""

import json
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import click

Function = TypeVar("Function", bound=Callable[..., Any])


def data_dir_option(function: Function) -> Function:
    """``--data-dir``, also ``PARAPH_DATA_DIR``."""
    return click.option(
        "--data-dir",
        envvar="PARAPH_DATA_DIR",
        default="paraph-data",
        show_default=True,
        type=click.Path(path_type=Path, file_okay=False),
        callback=_export,
        expose_value=False,
        help="Folder in which the service keeps its data.",
    )(function)


def address_options(function: Function) -> Function:
    """``--host`` and ``--port``, also ``PARAPH_HOST`` and ``PARAPH_PORT``."""
    host = click.option("--host", callback=_export, expose_value=False, help="Address to listen on  [127.0.0.1]")
    port = click.option("--port", type=int, callback=_export, expose_value=False, help="Port to listen on  [8000]")
    return host(port(function))


def newer_tables_option(function: Function) -> Function:
    """``--newer-tables``, passed to the function as ``newer_tables``."""
    text = "Run on the tables of the next version, after rolling back from it."
    return click.option("--newer-tables", is_flag=True, help=text)(function)


def json_option(function: Function) -> Function:
    """``--json``, passed to the function as ``as_json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")(function)


def operator_options(function: Function) -> Function:
    """``--data-dir`` and ``--json``, which operators' commands have in common."""
    return data_dir_option(json_option(function))


def show_lines(result: object, lines: Iterable[str], *, as_json: bool) -> None:
    """Print the result as JSON, or the lines."""
    for line in [json.dumps(result, ensure_ascii=False)] if as_json else lines:
        click.echo(line)


def show(facts: dict[str, Any], *, as_json: bool) -> None:
    """Print the facts as one JSON object or as ``name: value`` lines."""
    show_lines(facts, (f"{name}: {value}" for name, value in facts.items()), as_json=as_json)


def show_list(rows: list[dict[str, Any]], *, as_json: bool, none: str) -> None:
    """Print the rows as one JSON array or as a line each; ``none`` where there are none."""
    lines = ["  ".join(f"{name}: {_shown(value)}" for name, value in row.items()) for row in rows]
    show_lines(rows, lines or [none], as_json=as_json)


def say(line: str) -> None:
    """Print a line that may hold names which others chose. Characters that would begin another line, change the
    direction of the text or control a terminal are written as Python escapes (``\\n``, ``\\u202e``, ``\\x1b``)."""
    click.echo(visible(line))


def visible(text: str) -> str:
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def confirm(question: str, *, already: bool) -> None:
    """Ask at a terminal whether to go on, unless the caller has ``already`` confirmed it; programs are not asked."""
    if not already and sys.stdin.isatty():
        click.confirm(question, abort=True)


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)


def _export(context: click.Context, parameter: click.Parameter, value: Any) -> Any:  # noqa: ARG001  click's form
    if value is not None:
        text = str(value.absolute()) if isinstance(value, Path) else str(value)
        os.environ[f"PARAPH_{str(parameter.name).upper()}"] = text
    return value


def last_outcome(delivery: dict[str, Any]) -> str:
    """Return the error of a delivery's last attempt, or the status of its answer; "" before the first attempt."""
    return delivery["last_error"] or (f"HTTP {delivery['last_status']}" if delivery["last_status"] else "")
