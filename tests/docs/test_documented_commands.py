"""Whatever README.md and docs call by name is there: each ``paraph`` command with its options, each variable."""

import re
import shlex
from collections.abc import Iterator

import click
import pytest

from paraph.cli import main
from tests.config.test_documentation import FIELDS
from tests.docs.blocks import PAGES, PROJECT, Block, blocks, prose, rows_of, table

_COMMAND = re.compile(r"(?:^|\$\(|/bin/|&& |^[A-Z_]+=\S+ |\bworker )paraph ([^|;)&\n]*)", re.MULTILINE)
_SESSIONS = ("web PID@HOST", "worker PID@HOST")  # names in pg_stat_activity
_OTHERS_VARIABLES = {
    "PARAPH_SMTP_ULR": "misspelt on purpose",
    "PARAPH_SERVICE_HOST": "what Kubernetes itself sets",
    "PARAPH_URL": "of the client",
    "PARAPH_API_KEY": "of the client",
    "PARAPH_WEBHOOK_SECRET": "of the client",
    "PARAPH_UPSTREAM": "of deploy/Caddyfile",
}
_PLACEHOLDER = "…"


def problem(line: str, *, whole: bool) -> str:
    """What the command would say against the words after ``paraph``; empty where nothing.

    ``whole``: nothing may be missing either, as sentences leave out what is not their subject.
    """
    words = [word for word in shlex.split(re.sub(r"[\[\]]", "", line), comments=True) if word != _PLACEHOLDER]
    whole = whole and _PLACEHOLDER not in line
    command: click.Command = main
    context = click.Context(main)
    while isinstance(command, click.Group) and words:
        found = command.get_command(context, words[0])
        if found is None:
            return (
                f"there is no {words[0]!r}" if not words[0].startswith("--") else options(command, words, whole=whole)
            )
        context, command = click.Context(found, context, words.pop(0)), found
    if isinstance(command, click.Group) and not words:
        return "a subcommand is missing" if whole else ""
    return options(command, words, whole=whole)


def options(command: click.Command, words: list[str], whole: bool) -> str:
    context = click.Context(command)
    try:
        given, left, _ = command.make_parser(context).parse_args(list(words))
    except click.UsageError as error:  # unless it is known, and only its value is left out
        return error.message if whole or isinstance(error, click.NoSuchOption) else ""
    if left:
        return f"{left} is too much"
    required = [each for each in command.params if each.required and whole]
    lacking = [each.name for each in required if each.value_is_missing(given.get(each.name or ""))]
    return f"{lacking} is missing" if lacking else ""


def in_blocks() -> Iterator[tuple[Block, str]]:
    for block in blocks():
        if {row.kind for row in rows_of(block, table())} == {"shell"}:
            for line in _COMMAND.findall(block.text):
                yield block, line


def in_sentences() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        for code in prose(page.read_text()):
            for line in _COMMAND.findall(code):
                if line not in _SESSIONS:
                    yield page.name, line


def test_each_command_of_a_block_is_taken() -> None:
    found = list(in_blocks())
    assert len(found) > 20
    assert [(block.key, line, said) for block, line in found if (said := problem(line, whole=True))] == []


def test_each_command_of_a_sentence_is_there_with_its_options() -> None:
    found = list(in_sentences())
    assert len(found) > 100
    assert [(page, line, said) for page, line in found if (said := problem(line, whole=False))] == []


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("chekc", "there is no 'chekc'"),
        ("organization make X", "there is no 'make'"),
        ("organization create X --plann pro", "No such option '--plann'"),
        ("request show 1 2", "['2'] is too much"),
        ("restore", "is missing"),
        ("backup --out", "requires an argument"),
        ("storage", "a subcommand is missing"),
    ],
)
def test_a_command_that_is_not_there_would_be_found(line: str, said: str) -> None:
    assert said in problem(line, whole=True)


def test_each_variable_is_a_setting() -> None:
    for page in PAGES:
        named = set(re.findall(r"\bPARAPH_[A-Z0-9_]*[A-Z0-9]\b", page.read_text()))
        settings = {name for name in named if name in FIELDS or name.removesuffix("_FILE") in FIELDS}
        assert named - settings <= set(_OTHERS_VARIABLES), page.relative_to(PROJECT)
