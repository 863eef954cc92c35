"""What depends on the type of a field stands in one table: no other source names a type."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import paraph
from paraph.drafts.models import DraftSigner
from paraph.drafts.tags import offers_of
from paraph.request_templates.bulk.columns import sample_values, value_of
from paraph.request_templates.models import Role
from paraph.signature_requests.fields.entry import filled_fields
from paraph.signature_requests.fields.kinds import KINDS, Kind, read_text
from paraph.signature_requests.models import Field, Signer
from tests.api.v1.api_clients import api_client
from tests.api.v1.test_fields import field, with_fields
from tests.factories import scene
from tests.production import Client
from tests.signer.test_fields import keep
from tests.signer.test_filling import page, tag

SOURCE = Path(paraph.__file__).parent
TABLE = SOURCE / "signature_requests/fields/kinds.py"
PROOFS = SOURCE / "pdf/verification/proof_file.py"
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


@pytest.mark.django_db
def test_a_new_type_is_one_row_of_the_table(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked for by API, refused and taken, shown on the page and signed, found in tags and filled in by a CSV."""

    def postcode(row: Field, value: object) -> str:
        return read_text(row, value, longest=8).upper()

    more: dict[str, Any] = {"control": "textarea", "longest": 8, "tags": ("zip",), "example": "N1 9GU"}
    kind = Kind("postcode", "Postcode", "pencil", ("required", "value", "read_only"), postcode, **more)
    monkeypatch.setitem(KINDS, "postcode", kind)
    owner = api_client()
    owner.checked = False  # the document was made without it
    document = owner.document()
    refused = owner.create(with_fields(document, field("postcode", value="n1 9gu n1 9gu", max_length=9))).content
    assert b"type postcode has no such attribute" in refused
    assert owner.create(with_fields(document, field("postcode", value=" n1 9gu "))).status_code == 201
    assert Field.objects.get().value == "N1 9GU"
    made = scene(fields=[{"type": "postcode", "name": "where"}])
    assert tag(page(client, made), made, "where").startswith("<textarea")
    assert "at most 8 characters" in page(client, made).lower()
    assert keep(client, made, where="ec1a 1bb").status_code == 200
    assert [each.value for each in filled_fields(Signer.objects.get(pk=made.signers[0].pk), None)] == ["EC1A 1BB"]
    assert offers_of(["{{zip:tenant:Where}}"], [DraftSigner(0, "1")])["{{zip:tenant:Where}}"].kind is kind
    content = {"name": "where", "type": "postcode"}
    tenant = Role(0, "Tenant", "email", "signer")
    assert sample_values([tenant], [{"where": content}]) == (
        ["Tenant: where"],
        ["N1 9GU"],
    )
    assert value_of(content, "n1 9gu") == "n1 9gu"
