"""What depends on the type of a field stands in one table: no other source names a type."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import paraph
from paraph.signature_requests.fields.kinds import KINDS

SOURCE = Path(paraph.__file__).parent
TABLE = SOURCE / "signature_requests/fields/kinds.py"
PROOFS = SOURCE / "pdf/verification/evidence_statements.py"
"""What proofs state, also those of other versions: it is read without the service."""

DRAWING = SOURCE / "pdf/typesetting/field_values.py"
"""It says ``multiline`` to its template of what keeps its lines, whatever the type."""

DISTINCT = {"multiline", "checkbox", "choice", "signed_on"}
"""Types whose names mean nothing else here. Others are words of JSON and HTML too, as "text", or columns, as "email":
these may not be compared with a type."""


def named_in(tree: ast.AST) -> Iterator[str]:
    """The types that a source names, a table of them too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node.value in DISTINCT:
            yield str(node.value)
        elif asks_for_one(node):
            yield from {each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and each.value in KINDS}


def asks_for_one(node: ast.AST) -> bool:
    match node:
        case ast.Compare():
            return any(map(is_type, (node.left, *node.comparators)))
        case ast.Match():
            return is_type(node.subject)
        case ast.Subscript():
            return ast.unparse(node.value) == "KINDS"
    return False


def is_type(node: ast.AST) -> bool:
    return bool(re.search(r"(\.type|\.get\('type'\)|\['type'\]|\bkind)$", ast.unparse(node)))


def test_no_other_source_names_a_type_of_field() -> None:
    files = [file for file in SOURCE.rglob("*.py") if "migrations" not in file.parts]
    found = {file: set(named_in(ast.parse(file.read_text()))) for file in files}
    assert {file for file, types in found.items() if types} == {TABLE, PROOFS, DRAWING}
    assert found[TABLE] >= DISTINCT
    assert found[DRAWING] == {"multiline"}


def test_no_page_names_a_type_of_field() -> None:
    """A page asks for the control of a type, or for what can be said of it. A checkbox is one of HTML's too."""
    names = "|".join(KINDS.keys() - {"checkbox", "text", "number", "date", "email"})
    named = re.compile(rf"""type ={{2,3}} ["']({names})["']|{{% if [^%]*\.type == ["']({"|".join(KINDS)})["']""")
    of_forms = SOURCE / "dashboard/templates/allauth/elements/field.html"
    pages = [file for ending in ("html", "js") for file in SOURCE.rglob(f"*.{ending}") if file != of_forms]
    assert len(pages) > 100
    assert [file for file in pages if named.search(file.read_text())] == []


@pytest.mark.parametrize(
    "source",
    [
        'if field.type == "text": pass',
        'if content["type"] in ("number", "date"): pass',
        'if "email" == asked.type: pass',
        'KINDS["text"].size',
        '_ICONS = {"text": "pencil", "checkbox": "check"}',
        'match given.type:\n    case "date": pass',
    ],
)
def test_a_source_that_names_one_is_found(source: str) -> None:
    assert set(named_in(ast.parse(source)))


@pytest.mark.parametrize("source", ['schema = {"type": "number"}', 'if channel == "email": pass', "KINDS[field.type]"])
def test_words_that_mean_something_else_are_left(source: str) -> None:
    assert not set(named_in(ast.parse(source)))
