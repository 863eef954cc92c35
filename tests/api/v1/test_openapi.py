"""The OpenAPI document tells the truth."""

import json
from typing import Any

from paraph.api.v1 import errors, schemas
from paraph.api.v1.openapi import document
from paraph.signature_requests import payload as limits
from tests.api.v1.cast import Someone, payload, rectangle, tag
from tests.api.v1.test_read_signature_request import sealed

CONTENT: dict[str, Any] = json.loads(document())


def operations() -> list[dict[str, Any]]:
    return [operation for path in CONTENT["paths"].values() for operation in path.values()]


def schema(name: str) -> dict[str, Any]:
    return dict(CONTENT["components"]["schemas"][name])


def references(value: Any) -> set[str]:
    if isinstance(value, dict):
        here = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
        return here.union(*map(references, value.values()))
    return set().union(*map(references, value)) if isinstance(value, list) else set()


def test_every_reference_leads_somewhere() -> None:
    names = {f"#/components/schemas/{name}" for name in CONTENT["components"]["schemas"]}
    assert references(CONTENT) <= names


def test_every_operation_wants_a_key_and_tells_its_errors() -> None:
    assert CONTENT["security"] == [{"ApiKey": []}]
    for operation in operations():
        assert {"401", "402", "429", "500"} <= set(operation["responses"])
        assert operation["summary"] and operation["description"]
        for status, response in operation["responses"].items():
            if status >= "400":
                assert response["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/Error"}
            assert ("X-RateLimit-Remaining" in response.get("headers", {})) == (status != "401")


def test_all_codes_are_listed() -> None:
    assert set(schema("ErrorBody")["properties"]["code"]["enum"]) == {*errors.STATUSES, "internal_error"}


def test_the_limits_are_those_of_the_code() -> None:
    root = schema("SignatureRequestInput")["properties"]
    assert (root["validity_days"]["minimum"], root["validity_days"]["maximum"]) == (1, limits.MOST_VALIDITY_DAYS)
    assert schema("Assignment")["properties"]["stamps"]["maxItems"] == limits.MOST_STAMPS
    box = schema("Rectangle")["properties"]
    assert (box["width"]["minimum"], box["width"]["maximum"], box["width"]["default"]) == (80, 400, 200)
    assert (box["height"]["minimum"], box["height"]["maximum"], box["height"]["default"]) == (30, 160, 80)


def test_a_payload_of_every_field_is_of_the_schema_and_accepted(owner: Someone) -> None:
    content = payload(owner.document(), send_email=True, identity_declaration_accepted=True)
    content |= {"initials_required": True, "notify_signers_on_completion": True, "callback_url": "https://x.example/"}
    content |= {"branding_profile_id": None}
    content["signers"][0] |= {"phone": "+33612345678", "otp_channel": "sms"}
    content["documents"][0]["signers"][0]["stamps"] = [tag("{{ada}}", optional=True), rectangle(width=80, height=30)]
    assert set(content) == set(schema("SignatureRequestInput")["properties"])
    assert set(content["signers"][0]) == set(schema("SignerInput")["properties"])
    assert owner.create(content).status_code == 201


def test_answers_are_exactly_of_their_schemas(owner: Someone) -> None:
    """The schemas refuse unknown fields here, and none of theirs is missing."""
    created = owner.create(payload(owner.document())).json()
    exactly(schemas.CreatedSignatureRequest, created)
    exactly(schemas.SignatureRequests, owner.get("/signature_requests").json())
    exactly(schemas.AuditLogs, owner.get(f"/signature_requests/{created['id']}/audit_logs").json())
    exactly(schemas.Documents, owner.get("/documents").json())
    exactly(schemas.DocumentWithDownload, owner.get(f"/documents/{created['document_ids'][0]}").json())
    exactly(schemas.BrandingProfiles, owner.get("/branding_profiles").json())
    exactly(schemas.Health, owner.get("/health").json())
    exactly(schemas.Error, owner.get("/nowhere").json())
    sealed(created)
    exactly(schemas.SignatureRequest, owner.get(f"/signature_requests/{created['id']}").json())


def exactly(shape: Any, content: Any) -> None:
    """The content survives the schema unchanged: nothing missing, nothing more."""
    assert shape.model_validate(content, strict=True).model_dump() == content
