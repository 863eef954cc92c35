"""``tests/specification.md``: every rule of ``docs/rules.md`` names tests that exist."""

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
    "1", "2.1", "2.2", "2.3", "2.4", "2.5", "2.6", "3.1", "3.2", "3.3",
    "4", "4.1", "4.2", "4.3", "4.4", "4.5", "4.6", "4.7", "4.8", "4.9", "4.10", "4.11",
    "5", "5.1", "5.2", "6.1", "6.2", "6.3", "6.4", "7", "8", "8.1", "9",
    "10", "11", "12", "13", "14", "15", "16", "17", "18", "19", "20", "21",
)  # fmt: skip
_ROW = re.compile(r"\| ([\d.]+)-(\d+) \| (.*) \|")
_RULE = re.compile(r"- \*\*([\d.]+)-(\d+)\*\* (.+)")
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


def proven() -> dict[str, str]:
    """The tests that the table names, by rule, in the order of the rows."""
    found: dict[str, str] = {}
    for line in (TESTS / "specification.md").read_text().splitlines():
        if line.startswith("| ") and not line.startswith("| Rule |"):
            row = _ROW.fullmatch(line)
            assert row, f"this line names no rule: {line}"
            rule = f"{row[1]}-{row[2]}"
            assert rule not in found, f"{rule} stands twice"
            found[rule] = row[3]
    return found


def rules() -> list[Rule]:
    """The rules in their order; ``under`` is the number of the heading that a rule stands under."""
    found, under, tests = [], "", proven()
    for line in (PROJECT / "docs" / "rules.md").read_text().splitlines():
        if line.startswith("## "):
            under = line.split()[1]
        elif line.startswith("- "):
            rule = _RULE.fullmatch(line)
            assert rule, f"this line is no rule: {line}"
            section, number, sentence = rule.groups()
            named = _TEST.findall(tests.get(f"{section}-{number}", ""))
            found.append(Rule(section, int(number), sentence, tuple(named), under))
    return found


RULES = rules()


def missing(rule: Rule) -> list[str]:
    """The tests of the rule that are not where the table says."""
    return [f"{path}::{name}" for path, name in rule.tests if name not in functions(PROJECT / path)]


@cache
def functions(path: Path) -> set[str]:
    """The names of the tests in a file, with the name of their class in front and without their parameters."""
    found = set()
    for node in ast.parse(path.read_text()).body if path.is_file() else ():
        tests, prefix = (node.body, f"{node.name}::") if isinstance(node, ast.ClassDef) else ([node], "")
        found |= {f"{prefix}{each.name}" for each in tests if isinstance(each, ast.FunctionDef)}
    return {name for name in found if name.rpartition("::")[2].startswith("test_")}


def test_every_rule_names_a_test_and_nothing_else() -> None:
    assert list(proven()) == [rule.id for rule in RULES]
    for rule, tests in proven().items():
        assert re.fullmatch(rf"{_TEST.pattern}( {_TEST.pattern})*", tests), rule


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


def test_every_rule_that_is_cited_is_there() -> None:
    """Most comments cite a section, some a rule of it."""
    known = {rule.section for rule in RULES} | {rule.id for rule in RULES} | {"2", "6"}
    cited = re.compile(r"\brules? (\d[\d.]*(?:-\d+)?(?:(?:, | and | to )\d[\d.]*(?:-\d+)?)*)")
    unknown = []
    for folder in ("src", "tests", "lab", "docs"):
        for path in (PROJECT / folder).rglob("*"):
            if path.suffix in (".py", ".md", ".js", ".css") and "corpus" not in path.parts:
                for numbers in cited.findall(path.read_text()):
                    named = [number.rstrip(".") for number in re.split(", | and | to ", numbers)]
                    unknown += [f"{path}: {number}" for number in named if number not in known]
    assert unknown == []
