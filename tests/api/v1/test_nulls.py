"""Null in bodies: an optional field that is null counts as absent, all of them alike, but for ``optional`` of a stamp.

The fields are those of the OpenAPI document and of the signer's shapes, so that a new one is tried here by itself.
"""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from paraph.signer.described import signer_paths
from tests.api.v1 import contract
from tests.api.v1.api_clients import ApiClient, api_client, invalid, payload, rectangle, tag
from tests.factories import scene
from tests.production import Client

Path = tuple[str | int, ...]
DOCUMENT = contract.content()
SCHEMAS = DOCUMENT["components"]["schemas"]
NEVER_NULL = "optional"
NO_JSON = {"/api/v1/documents"}  # multipart: it has no null


def optional_fields(schema: dict[str, Any], value: Any, path: Path = ()) -> Iterator[Path]:
    """The paths at which ``value`` may have an optional field, by the schema of the value."""
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
    """A stamp of either kind, so that the fields of both are there."""
    content = payload(document_id, mode="parallel")
    content["documents"][0]["signers"][0]["stamps"] = [tag("{{ada}}"), rectangle()]
    places: list[Any] = [tag("{{grace}}"), rectangle()]
    kinds = {"text": {"max_length": 9, "value": "a"}, "number": {"value": "5", "minimum": 1, "maximum": 9}}
    content["documents"][0]["signers"][0]["fields"] = [
        {"name": kind, "type": kind, "placement": place, **more}
        for (kind, more), place in zip(kinds.items(), places, strict=True)
    ]
    return {"signature_request": content}


def test_the_bodies_of_the_api_with_json_are_known() -> None:
    """Else another body has to be tried below."""
    operations = [
        path
        for path, methods in DOCUMENT["paths"].items()
        for method, operation in methods.items()
        if method in ("post", "put", "patch") and "requestBody" in operation
    ]
    assert set(operations) - NO_JSON == {
        "/api/v1/signature_requests",
        "/api/v1/signature_requests/preview",  # the same body
        "/api/v1/signature_requests/{request_id}/end",  # without an optional field
        "/api/v1/signature_requests/{request_id}/extend",  # likewise
        "/api/v1/signature_requests/{request_id}/signers/{signer_id}/correct",  # test_correct.py
        "/api/v1/sandbox/signature_requests/{request_id}/signers/{signer_id}/sign",  # as the signer's page sends it
        "/api/v1/sandbox/signature_requests/{request_id}/signers/{signer_id}/decline",  # likewise
        "/api/v1/templates",
        "/api/v1/templates/{template_id}/signature_requests",
        "/api/v1/drafts",
    }


def test_optional_fields_of_a_creation_may_be_null(owner: ApiClient) -> None:
    body = full_payload(owner.document())
    paths = list(dict.fromkeys(optional_fields({"$ref": "#/components/schemas/Creation"}, body)))
    names = {path[-1] for path in paths}
    assert {"send_email", "branding_profile_id", "order", "phone", "otp_channel", "width", NEVER_NULL} <= names
    for path in paths:
        nulled = with_null(body, path)
        answer = owner.post("/signature_requests", nulled)
        if path[-1] == "stamps":  # those of an approver, who has none
            assert "must have from 1 to 10 stamps" in invalid(answer)
        elif path[-1] == NEVER_NULL:
            message = invalid(answer)
            assert message.endswith("optional: it must be a JSON boolean, true or false."), path
            assert not contract.validator("Creation").is_valid(nulled)
        else:
            assert answer.status_code == 201, (path, answer.content)
            contract.validator("Creation").validate(nulled)


def nulls_are_taken(client: ApiClient, path: str, schema: str, body: dict[str, Any], named: str = "") -> None:
    """``named``: the field of what others refer to."""
    fields = list(dict.fromkeys(optional_fields({"$ref": f"#/components/schemas/{schema}"}, body)))
    assert fields
    for field in fields:
        if field[-1] == "stamps" and schema != "DraftCreation":  # those of an approver, who has none
            assert "must have from 1 to 10 stamps" in invalid(client.post(path, with_null(body, field)))
        elif field[-1] != NEVER_NULL and field[1:] not in {(named,), (named, 0, "ref"), (named, 1, "ref")}:
            nulled = with_null(body, field)
            answer = client.post(path, nulled)
            assert answer.status_code == 201, (field, answer.content)
            contract.validator(schema).validate(nulled)


def template(document_id: int) -> dict[str, Any]:
    stamps = [tag("{{ada}}"), rectangle()]
    roles = [{"name": "Tenant", "otp_channel": "email"}]
    return {
        "name": "Lease",
        "mode": "parallel",
        "validity_days": 7,
        "roles": roles,
        "documents": [{"id": document_id, "roles": [{"role": "Tenant", "stamps": stamps}]}],
    }


def test_optional_fields_of_a_template_may_be_null(owner: ApiClient) -> None:
    nulls_are_taken(owner, "/templates", "TemplateCreation", {"template": template(owner.document())})


def test_optional_fields_of_a_request_of_a_template_may_be_null(owner: ApiClient) -> None:
    made = owner.post("/templates", {"template": template(owner.document())}).json()["id"]
    person = {"role": "Tenant", "first_name": "Ada", "last_name": "Byron", "email": "ada@example.com"}
    path = f"/templates/{made}/signature_requests"
    nulls_are_taken(owner, path, "TemplateSending", {"signature_request": {"signers": [person]}})


@pytest.mark.django_db
def test_optional_fields_of_a_draft_may_be_null() -> None:
    owner = api_client("pro", "production")
    nulls_are_taken(owner, "/drafts", "DraftCreation", full_payload(owner.document()), named="signers")


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
    assert {path for path, _, _ in SIGNER_BODIES} == {
        "/sign/{token}/decline",
        "/sign/{token}/fields",
        "/sign/{token}/otp",
        "/sign/{token}/signature",
        "/sign/{token}/stamp",
    }
