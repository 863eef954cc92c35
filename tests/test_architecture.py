"""ARCHITECTURE.md says where things are: each room, each place and each test that it names exists."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent
SOURCE = PROJECT / "src" / "paraph"
TEXT = (PROJECT / "ARCHITECTURE.md").read_text()
TREE = TEXT.split("```")[1]
ROWS = [line.strip("| ").split(" | ") for line in TEXT.splitlines() if line.startswith("| ")][1:]
PROOF = re.compile(r"`(tests/[\w/]+\.py)::")
PATH = re.compile(r"`([\w./]+/[\w./]*|[\w]+\.md)`")


def test_every_room_stands_in_the_tree_and_no_other() -> None:
    named = {line.split()[0].split("/")[0] for line in TREE.splitlines() if re.match(r"  \w+/", line)}
    rooms = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").is_file()}
    assert named == rooms


def test_every_folder_of_the_pdf_library_stands_in_the_tree() -> None:
    named = {line.split()[0].strip("/") for line in TREE.splitlines() if re.match(r"    \w+/", line)}
    assert named == {path.name for path in (SOURCE / "pdf").iterdir() if (path / "__init__.py").is_file()}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:50])
def test_every_place_and_every_test_is_there(row: list[str]) -> None:
    _rule, place, *tests = row
    assert [path for path in PATH.findall(place) if not (SOURCE / path).exists()] == []
    assert [path for path in re.findall(r"\bdocs/[\w./-]+", place) if not (PROJECT / path.rstrip(".")).exists()] == []
    for test in tests:
        assert [path for path in PATH.findall(test) if not (PROJECT / "tests" / path).exists()] == []


def test_every_rule_says_which_test_holds_it() -> None:
    assert [row[0] for row in ROWS if len(row) < 3 and not row[0].startswith("why")] == []


def test_a_test_of_each_rule_stands_in_a_row_of_its_section() -> None:
    """Whoever knows a rule's number finds its code and a test of it in one row."""
    tests: dict[str, set[str]] = defaultdict(set)
    for row in ROWS:
        for sections in re.findall(r"\(([\d., ]+)(?:, cases.*)?\)", row[0]):
            for section in sections.split(", "):
                tests[section] |= {f"tests/{path}" for path in PATH.findall(row[2])}
    proofs = re.findall(
        r"^\| ([\d.]+)(-\d+) \| (.*) \|$", (PROJECT / "tests/specification.md").read_text(), re.MULTILINE
    )
    assert len(proofs) > 400
    assert [section + rule for section, rule, named in proofs if not tests[section] & set(PROOF.findall(named))] == []


BUDGETS = {
    "account_mail": 44,
    "api": 4_110,
    "audit_trail": 317,
    "authority": 70,
    "bundle": 230,
    "cli": 2_589,
    "config": 597,
    "confinement": 449,
    "counts": 131,
    "dashboard": 6_505,
    "database": 726,
    "documents": 309,
    "drafts": 1_294,
    "evidence": 517,
    "files": 41,
    "flow": 5_986,
    "health": 71,
    "idempotency": 142,
    "kernel": 1_031,
    "keys": 2_070,
    "messaging": 592,
    "metrics": 320,
    "operations": 3_105,
    "otp": 463,
    "outbound": 492,
    "pdf": 21_575,
    "postgres": 609,
    "queue": 381,
    "reference": 876,
    "request_templates": 1_342,
    "server": 726,
    "signature_requests": 3_884,
    "signer": 2_699,
    "storage": 709,
    "tenants": 2_376,
    "transparency": 1_097,
    "verify_page": 321,
    "webhooks": 1_338,
    "words": 80,
}
"""Lines of each room, without migrations. A change that needs more raises the budget of its room here."""
_PLAIN = 0.62  # of a budget: code that is neither imports, docstrings, comments nor blank lines


def code_lines(file: Path) -> int:
    """The lines of a file that hold code, without imports, docstrings and comments."""
    text = file.read_text()
    passive = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str))
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    lines = enumerate(text.splitlines(), 1)
    return sum(1 for number, line in lines if line.strip() and line.strip()[0] != "#" and number not in passive)


@pytest.mark.parametrize("room", BUDGETS)
def test_a_room_keeps_its_budget(room: str) -> None:
    files = [file for file in (SOURCE / room).rglob("*.py") if "migrations" not in file.parts]
    assert sum(map(code_lines, files)) <= _PLAIN * BUDGETS[room]


def test_every_room_has_a_budget() -> None:
    assert BUDGETS.keys() == {path.name for path in SOURCE.iterdir() if (path / "__init__.py").is_file()}


def test_what_must_be_read_stays_short() -> None:
    """Limits in words for the README, CONTRIBUTING.md (two pages), each decision (a screen) and all decisions."""

    def words(document: Path) -> int:
        return len(document.read_text().split())

    decisions = [*map(words, (PROJECT / "docs/decisions").glob("*.md"))]
    assert words(PROJECT / "README.md") <= 1_200 and words(PROJECT / "CONTRIBUTING.md") <= 1_000
    assert max(decisions) <= 530 and sum(decisions) <= 15_000
