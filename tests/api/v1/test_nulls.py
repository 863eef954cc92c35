"""Null in bodies: an optional field that is null counts as absent, with the one exception of ``optional`` of a stamp.

The fields are those of the OpenAPI document and of the signer's shapes, so that a new field is tried automatically.
"""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from paraph.signer.described import signer_paths
from tests.api.v1 import contract
from tests.api.v1.api_clients import ApiClient, api_client, invalid, payload, rectangle, tag
from tests.api.v1.test_templates import created, people, wanted
from tests.factories import scene
from tests.production import Client

Path = tuple[str | int, ...]
SCHEMAS = contract.content()["components"]["schemas"]
NEVER_NULL = "optional"
NO_JSON = {"/api/v1/documents"}  # multipart: it has no null


def optional_fields(schema: dict[str, Any], value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the paths at which ``value`` may have an optional field, by the schema of the value."""
    schema = SCHEMAS[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    variants = schema.get("anyOf") or schema.get("oneOf") or []
    for variant in variants:
        if contract.is_of(variant, value):
            yield from optional_fields(variant, value, path)
    if isinstance(value, dict):
        for name, field in schema.get("properties", {}).items():
            if name not in schema.get("required", []):
                yield (*path, name)
            if name in value:
                yield from optional_fields(field, value[name], (*path, name))
    if isinstance(value, list) and "items" in schema:
        for index, entry in enumerate(value):
            yield from optional_fields(schema["items"], entry, (*path, index))


def with_null(value: Any, path: Path) -> Any:
    changed = deepcopy(value)
    place = changed
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = None
    return changed


def full_payload(document_id: int) -> dict[str, Any]:
    """Return a creation with both kinds of stamps, so that it has the fields of both."""
    content = payload(document_id, mode="parallel")
    content["documents"][0]["signers"][0]["stamps"] = [tag("{{ada}}"), rectangle()]
    places: list[Any] = [tag("{{grace}}"), rectangle()]
    kinds = {"text": {"max_length": 9, "value": "a"}, "number": {"value": "5", "minimum": 1, "maximum": 9}}
    asked = zip(kinds.items(), places, strict=True)
    fields = [{"name": kind, "type": kind, "placement": place, **more} for (kind, more), place in asked]
    content["documents"][0]["signers"][0]["fields"] = fields
    return {"signature_request": content}


def test_the_bodies_of_the_api_with_json_are_known() -> None:
    """A body that is new here has to be tried below as well."""
    assert {path for _, path, operation in contract.operations() if "requestBody" in operation} - NO_JSON == {
        "/api/v1/signature_requests",
        "/api/v1/signature_requests/preview",  # the same body
        "/api/v1/signature_requests/{request_id}/end",  # without an optional field
        "/api/v1/signature_requests/{request_id}/extend",  # likewise
        "/api/v1/signature_requests/{request_id}/signers/{signer_id}/correct",  # test_acts.py
        "/api/v1/sandbox/signature_requests/{request_id}/signers/{signer_id}/sign",  # as the signer's page sends it
        "/api/v1/sandbox/signature_requests/{request_id}/signers/{signer_id}/decline",  # likewise
        "/api/v1/templates",
        "/api/v1/templates/{template_id}/signature_requests",
        "/api/v1/drafts",
    }


def nulls_are_taken(client: ApiClient, path: str, schema: str, body: dict[str, Any], named: str = "") -> set[Any]:
    """Try a null in each optional field; return their names. ``named``: the list whose entries others refer to."""
    fields = list(dict.fromkeys(optional_fields({"$ref": f"#/components/schemas/{schema}"}, body)))
    for field in fields:
        whole = schema != "DraftCreation"  # of which anything may be missing
        if field[1:] in {(named,), (named, 0, "ref"), (named, 1, "ref")} or (field[-1] == NEVER_NULL and not whole):
            continue
        nulled = with_null(body, field)
        answer = client.post(path, nulled)
        if field[-1] == "stamps" and whole:  # only an approver may be without stamps
            assert "must have from 1 to 10 stamps" in invalid(answer)
        elif field[-1] == NEVER_NULL:
            assert invalid(answer).endswith("optional: it must be a JSON boolean, true or false."), field
            assert not contract.validator(schema).is_valid(nulled)
        else:
            assert answer.status_code == 201, (field, answer.content)
            contract.validator(schema).validate(nulled)
    return {field[-1] for field in fields}


def test_optional_fields_of_a_creation_may_be_null(owner: ApiClient) -> None:
    names = nulls_are_taken(owner, "/signature_requests", "Creation", full_payload(owner.document()))
    assert {"send_email", "branding_profile_id", "order", "phone", "otp_channel", "width", NEVER_NULL} <= names


def test_optional_fields_of_a_template_may_be_null(owner: ApiClient) -> None:
    assert nulls_are_taken(owner, "/templates", "TemplateCreation", {"template": wanted(owner.document())})


def test_optional_fields_of_a_request_of_a_template_may_be_null(owner: ApiClient) -> None:
    path = f"/templates/{created(owner)['id']}/signature_requests"
    body = {"signature_request": {"signers": people("Tenant", "Landlord")}}
    assert nulls_are_taken(owner, path, "TemplateSending", body)


@pytest.mark.django_db
def test_optional_fields_of_a_draft_may_be_null() -> None:
    owner = api_client("pro", "production")
    assert nulls_are_taken(owner, "/drafts", "DraftCreation", full_payload(owner.document()), named="signers")


SIGNER_BODIES = [
    (path, example["value"], operation["requestBody"]["content"]["application/json"]["schema"])
    for path, methods in signer_paths().items()
    for operation in methods.values()
    for content in [operation.get("requestBody", {}).get("content", {}).get("application/json")]
    if content
    for example in content["examples"].values()
]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "body", "schema"), SIGNER_BODIES, ids=lambda value: value if isinstance(value, str) else ""
)
@pytest.mark.parametrize("mark", ["typed", "drawn"])
def test_optional_fields_of_signers_bodies_may_be_null(
    path: str, body: dict[str, Any], schema: dict[str, Any], mark: str
) -> None:
    if "signature" in body and mark == "typed":
        body = {**body, "signature": {"type": "typed"}}
    fields = list(optional_fields(schema, body))
    for field in fields:
        entered = body.get("fields", [])
        made = scene(decline_allowed=True, fields=[{"name": each["name"], "required": False} for each in entered])
        nulled = with_null(body, field)
        for each in nulled.get("fields") or []:
            each["document_id"] = made.request_documents[0].document_id
        if "code" in nulled:
            nulled["code"] = made.code(0)
        answer = Client().post(made.url(0, path.removeprefix("/sign/{token}")), nulled, content_type="application/json")
        assert answer.status_code == 200, (field, answer.content)


def test_there_are_bodies_of_signers_to_try() -> None:
    expected = {f"/sign/{{token}}/{verb}" for verb in ("decline", "fields", "otp", "signature", "stamp")}
    assert {path for path, _, _ in SIGNER_BODIES} == expected
