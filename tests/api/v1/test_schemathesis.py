"""Calls made up from the OpenAPI document, valid and invalid: the service keeps its word in every one."""

from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import chain, count, cycle
from typing import Any

import pytest
import schemathesis
from django.core import signals
from django.db import close_old_connections
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from schemathesis.checks import load_all_checks
from schemathesis.config import GenerationConfig, ProjectConfig, ProjectsConfig, SchemathesisConfig
from schemathesis.generation import GenerationMode
from schemathesis.generation.hypothesis.builder import HypothesisTestConfig, HypothesisTestMode, create_test
from schemathesis.specs.openapi.checks import negative_data_rejection

from paraph.api.v1 import endpoint
from paraph.server.wsgi import application
from paraph.tenants import limits as plans
from tests.api.v1 import contract
from tests.api.v1.api_clients import CONTRACT, api_client, branding_profile, payload, rectangle, tag
from tests.pdf.pdf_factory import paper, text

TAGS = [text(f"{{{{{place}}}}}", 72, 100 + 29 * place) for place in range(25)]  # a stamp fits under each
TAGGED = paper("".join(TAGS))

schemathesis.openapi.media_type("application/pdf", st.sampled_from([CONTRACT, TAGGED]))
# Unknown parameters are ignored, as unknown fields are. The key is the test's: schemathesis checks by itself what
# happens where the key is missing or wrong.
generation = GenerationConfig(allow_extra_parameters=False, with_security_parameters=False, deterministic=True)
config = SchemathesisConfig(projects=ProjectsConfig(default=ProjectConfig(generation=generation)))

_NUMBERS = count()


@cache
def schema() -> schemathesis.BaseSchema:
    return schemathesis.openapi.from_wsgi("/api/v1/openapi.json", application, config=config)


@pytest.fixture
def world(db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """Yield the key of an organization with documents, a request and a profile, and without a rate limit. The calls
    use the connection of the test to the database, which outlives each of them."""
    monkeypatch.setattr(plans, "SANDBOX_RATE", plans.RateLimit(10**9, 10**9))
    monkeypatch.setattr(endpoint, "BAD_CALLS_PER_MINUTE", 10**9)
    owner = api_client()
    assert owner.create(payload(owner.document())).status_code == 201
    documents = [owner.upload(TAGGED).json()["id"] for _ in range(3)]
    profile = branding_profile(owner)
    for signal in (signals.request_started, signals.request_finished):
        signal.disconnect(close_old_connections)
    yield {"key": owner.api_key, "documents": documents, "profile": profile.pk, "calls": 0}
    for signal in (signals.request_started, signals.request_finished):
        signal.connect(close_old_connections)


OPERATIONS = [(method, path) for method, path, _ in contract.operations()]
SENDING = ("signature_requests", "signature_requests/preview", "templates/{template_id}/signature_requests")
LARGE = [("POST", f"/api/v1/{path}") for path in (*SENDING, "templates", "drafts")]
EXAMPLES, COVERAGE, FUZZING = HypothesisTestMode.EXAMPLES, HypothesisTestMode.COVERAGE, HypothesisTestMode.FUZZING


@pytest.mark.parametrize(("method", "path"), [operation for operation in OPERATIONS if operation not in LARGE])
def test_every_answer_is_as_documented(method: str, path: str, world: dict[str, Any]) -> None:
    _made_up(method, path, [EXAMPLES, COVERAGE], world)


@pytest.mark.thorough
@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_every_answer_to_what_comes_at_random_is_as_documented(method: str, path: str, world: dict[str, Any]) -> None:
    _made_up(method, path, [COVERAGE, FUZZING] if (method, path) in LARGE else [FUZZING], world)


@pytest.mark.parametrize(("method", "path"), LARGE)
def test_answers_to_large_payloads_are_as_documented(method: str, path: str, world: dict[str, Any]) -> None:
    """Use only the examples of the document: a payload at random, or one that covers a part of the schema, takes up
    to a second to make up."""
    assert (method, path) in OPERATIONS
    _made_up(method, path, [EXAMPLES], world)


def _made_up(method: str, path: str, modes: list[HypothesisTestMode], world: dict[str, Any]) -> None:
    """Make calls up and try them. This takes long, and so is not done where every process of a run collects tests."""
    load_all_checks()
    made_up = HypothesisTestConfig(project=schema().config, modes=modes)
    create_test(operation=schema()[path][method], test_func=_call, config=made_up)(world=world)
    assert world["calls"]


@settings(max_examples=20, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def _call(case: "schemathesis.Case[Any]", world: dict[str, Any]) -> None:
    """Make the call, with every check that there is. What no schema can say about a creation, such as that its
    documents exist, is made true first, so that every valid creation must be accepted."""
    world["calls"] += 1
    valid = case.meta is not None and case.meta.generation.mode is GenerationMode.POSITIVE
    if valid and isinstance(case.body, dict):
        case.body = _without_misspelt(case.body, _body_schema(case.method, case.path))
    if valid and case.operation.label == "POST /api/v1/signature_requests":
        case.body = _grounded(case.body, world)
    if valid and case.operation.label == "POST /api/v1/templates":
        case.body = _grounded_template(case.body, world)
    if valid and "after" in (case.query or {}):
        case.query["after"] = "latest"  # only the service makes cursors
    if valid and "Idempotency-Key" in (case.headers or {}):
        case.headers["Idempotency-Key"] = f"{next(_NUMBERS)}-{case.headers['Idempotency-Key']}"[:255]  # a new one
    preview = case.operation.label == "POST /api/v1/signature_requests/preview"  # names problems, refuses nothing
    excluded: list[Any] = [negative_data_rejection] if preview or _only_a_right_file(case) else []
    case.call_and_validate(headers={"X-Api-Key": world["key"]}, excluded_checks=excluded)


def _only_a_right_file(case: "schemathesis.Case[Any]") -> bool:
    """Whether nothing is meant to be wrong but the file, which is right all the same: one of ours, as any PDF here."""
    parts = case.meta.components.items() if case.meta else ()
    wrong = {place.value for place, part in parts if part.mode is GenerationMode.NEGATIVE}
    body: Any = case.body
    return wrong == {"body"} and isinstance(body, dict) and body.get("file") in (CONTRACT, TAGGED)


def _body_schema(method: str, path: str) -> Any:
    operation = contract.content()["paths"][path][method.lower()]
    return operation["requestBody"]["content"].get("application/json", {}).get("schema", {})


def _without_misspelt(value: Any, *schemas: Any) -> Any:
    """Return the value, in which no field that the schemas do not name looks like one that is misspelt: such a field
    is refused, any other is ignored. ``schemas``: alternatives."""
    variants = [variant for schema in schemas for variant in _variants(schema)]
    if isinstance(value, list):
        return [_without_misspelt(each, *(variant.get("items", {}) for variant in variants)) for each in value]
    fields: dict[str, list[Any]] = defaultdict(list)
    for name, schema in (field for variant in variants for field in variant.get("properties", {}).items()):
        fields[name].append(schema)
    if not isinstance(value, dict) or not fields:
        return value
    return {
        name if name in fields else f"unknown {name}": _without_misspelt(each, *fields.get(name, []))
        for name, each in value.items()
    }


def _variants(schema: Any) -> list[Any]:
    if "$ref" in schema:
        return _variants(contract.content()["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    alternatives = schema.get("oneOf", schema.get("anyOf"))
    return [schema] if alternatives is None else [found for each in alternatives for found in _variants(each)]


def _grounded(body: Any, world: dict[str, Any]) -> Any:
    """Return the same payload about things that exist: its shape, its options and its texts stay."""
    request = body["signature_request"]
    if request.get("branding_profile_id") is not None:
        request["branding_profile_id"] = world["profile"]
    for name in ("callback_url", "redirect_url"):
        if request.get(name) is not None:
            request[name] = "https://example.com/" + "a" * (len(request[name]) - 20)
    if request.get("reminders") is not None:
        request["send_email"] = True
    if request.get("send_email"):
        request["identity_declaration_accepted"] = True
    request["signers"] = request["signers"][:25]
    fills_in_names = any(
        field["type"] == "full_name"
        for document in request["documents"]
        for assignment in document["signers"]
        for field in assignment.get("fields") or []
    )
    for number, signer in enumerate(request["signers"]):
        signer["ref"], signer["order"] = f"{number} {signer['ref']}"[:200], number + 1
        if signer.get("phone") is not None or signer.get("otp_channel") == "sms":
            signer["phone"] = "+33612345678"
        signer["role"] = "signer" if not number else signer.get("role")
        if fills_in_names and "first_name" in signer:  # the rectangle has room for short names only
            signer["first_name"], signer["last_name"] = signer["first_name"][:6], signer["last_name"][:6]
    refs = [signer["ref"] for signer in request["signers"]]
    approve = {signer["ref"] for signer in request["signers"] if signer["role"] == "approver"}
    pairs = zip(request["documents"], world["documents"], strict=False)
    request["documents"] = [
        {**document, "id": number, "signers": _assignments(document["signers"], refs, approve)}
        for document, number in pairs
    ]
    return body


def _grounded_template(body: Any, world: dict[str, Any]) -> Any:
    """Do the same for a template, with its roles as the signers of a request."""
    template = body["template"]
    roles = template.pop("roles")[:25]
    signers = [{"ref": role["name"], "role": role.get("role")} for role in roles]
    for document in template["documents"]:
        document["signers"] = document.pop("roles")
    template |= _grounded({"signature_request": template | {"signers": signers}}, world)["signature_request"]
    del template["signers"]
    for role, signer in zip(roles, signers, strict=True):
        role |= {"name": signer["ref"][:100], "role": signer["role"]}
    template["roles"] = roles
    for document in template["documents"]:
        placed = document.pop("signers")
        document["roles"] = [
            {"role": each["signer_ref"][:100], "stamps": each["stamps"], "fields": each["fields"]} for each in placed
        ]
    return body


def _assignments(given: list[dict[str, Any]], refs: list[str], approve: set[str]) -> list[dict[str, Any]]:
    """Return an assignment for each signer, with stamps of their own; approvers have no stamps."""
    found = []
    for place, (assignment, ref) in enumerate(zip(cycle(given), refs)):
        drawn: dict[str, Any] = {"stamps": [], "fields": None}
        if ref not in approve:
            drawn["stamps"] = _stamps(assignment.get("stamps") or [], place)
            drawn["fields"] = _fields(assignment.get("fields") or [])
        found.append({**assignment, "signer_ref": ref, **drawn})
    return found


def _fields(given: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give each field a name of its own, the attributes that its type may have, and a place on the first page. Values
    that the schema cannot judge are left out."""
    found = []
    for number, field in enumerate(given):
        kept: dict[str, Any] = {name: field[name] for name in ("type", "label", "font_size") if name in field}
        if field["type"] not in ("signed_on", "full_name", "email"):
            kept["required"] = field.get("required")
        if field["type"] == "choice":
            kept["options"] = field.get("options") or ["a", "b"]
        if field["type"] in ("text", "multiline"):
            kept["max_length"] = field.get("max_length")
        placement = rectangle(1, 60, width=500, height=30)  # characters that no font has appear as long numbers
        found.append({**kept, "name": f"{number} {field['name']}"[:100], "placement": placement})
    return found


def _stamps(given: list[dict[str, Any]], place: int) -> list[dict[str, Any]]:
    """Return stamps whose first tag is on the page, with all other tags optional, and rectangles on the first page."""
    if not given:
        return [rectangle(1)]
    tags = chain([tag(f"{{{{{place}}}}}")], (tag(f"absent {number}", optional=True) for number in count()))
    return [next(tags) if stamp["type"] == "magic_field" else rectangle(1) for stamp in given]
