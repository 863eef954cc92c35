"""``tests/specification.md``: every rule of the specification names tests that are there."""

import ast
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PROJECT = TESTS.parent
SECTIONS = (
    *("1", "2.1", "2.2", "2.3", "2.4", "2.5", "2.6", "3.1", "3.2", "3.3"),
    *("4", "4.1", "4.2", "4.3", "4.4", "4.5", "4.6", "4.7", "4.8", "4.9", "4.10", "4.11"),
    *("5", "5.1", "5.2", "6.1", "6.2", "6.3", "6.4", "7", "8", "8.1", "9"),
)
_ROW = re.compile(r"\| ([\d.]+)-(\d+) \| (.+?) \| (.*) \|")
_TEST = re.compile(r"`(tests/[\w/]+\.py)::([\w:]+)`")


@dataclass(frozen=True)
class Rule:
    section: str
    number: int
    sentence: str
    tests: tuple[tuple[str, str], ...]
    under: str

    @property
    def id(self) -> str:
        return f"{self.section}-{self.number}"


def rules(text: str) -> list[Rule]:
    """The rows of all tables, in their order; ``under`` is the number of the heading that a row stands under."""
    found, under = [], ""
    for line in text.splitlines():
        if line.startswith("## "):
            under = line.split()[1]
        elif line.startswith("| ") and not line.startswith("| Rule |"):
            row = _ROW.fullmatch(line)
            assert row, f"this line is no rule: {line}"
            section, number, sentence, tests = row.groups()
            found.append(Rule(section, int(number), sentence, tuple(_TEST.findall(tests)), under))
    return found


RULES = rules((TESTS / "specification.md").read_text())


def missing(rule: Rule) -> list[str]:
    """The tests of the rule that are not where the table says."""
    return [f"{path}::{name}" for path, name in rule.tests if name not in functions(PROJECT / path)]


@cache
def functions(path: Path) -> frozenset[str]:
    """Names of the tests in a file, those of a class behind its name, parametrised ones without their values."""
    if not path.is_file():
        return frozenset()
    return frozenset(_tests(ast.parse(path.read_text()).body))


def _tests(body: list[ast.stmt], prefix: str = "") -> list[str]:
    found = []
    for node in body:
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            found += _tests(node.body, f"{prefix}{node.name}::")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            found.append(prefix + node.name)
    return found


def test_every_rule_names_a_test_and_nothing_else() -> None:
    for line in (TESTS / "specification.md").read_text().splitlines():
        if row := _ROW.fullmatch(line):
            assert re.fullmatch(rf"{_TEST.pattern}( {_TEST.pattern})*", row[4]), line


def test_every_named_test_is_there() -> None:
    assert [f"{rule.id}: {test}" for rule in RULES for test in missing(rule)] == []


def test_no_rule_names_a_test_twice() -> None:
    assert [rule.id for rule in RULES if len(set(rule.tests)) < len(rule.tests)] == []


def test_every_subsection_has_rules_and_they_stand_in_order() -> None:
    assert list(dict.fromkeys(rule.section for rule in RULES)) == list(SECTIONS)
    assert [rule.id for rule in RULES if rule.section != rule.under] == []
    for section in SECTIONS:
        numbers = [rule.number for rule in RULES if rule.section == section]
        assert numbers == list(range(1, len(numbers) + 1)), section
    assert max(Counter(rule.id for rule in RULES).values()) == 1


def test_every_rule_is_a_sentence_of_its_own() -> None:
    for rule in RULES:
        assert rule.sentence[0] in "`" or rule.sentence[0].isupper() or rule.sentence[0].isdigit(), rule.id
        assert rule.sentence.endswith("."), rule.id
    said = Counter((rule.section, rule.sentence) for rule in RULES)
    assert [sentence for sentence, times in said.items() if times > 1] == []


@pytest.mark.parametrize("under", [None, "TestOfTheRule"])
def test_a_test_that_goes_is_missed(tmp_path: Path, under: str | None) -> None:
    path = tmp_path / "test_x.py"
    path.write_text("class TestOfTheRule:\n  def test_y(self): pass\ndef test_y(): pass\ndef helper(): pass\n")
    name = f"{under}::test_y" if under else "test_y"
    assert missing(Rule("9", 1, "", ((str(path), name),), "9")) == []
    assert missing(Rule("9", 1, "", ((str(path), "helper"),), "9")) == [f"{path}::helper"]
    gone = tmp_path / "test_gone.py"
    assert missing(Rule("9", 1, "", ((str(gone), name),), "9")) == [f"{gone}::{name}"]
