"""Whatever a payload says, it is planned or refused with a sentence: nothing else may happen."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paraph.documents.models import Document
from paraph.kernel.errors import DomainError
from paraph.pdf.untrusted.page_reading import find_tags
from paraph.signature_requests import placing
from paraph.signature_requests.plan import RequestPlan, make_plan
from paraph.storage import store
from paraph.tenants.models import Application
from paraph.tenants.scope import TenantScope
from tests.api.v1.api_clients import api_client, payload, rectangle, tag

pytestmark = pytest.mark.django_db

CODES = {"validation_error", "forbidden", "initials_not_available_on_plan", "identity_declaration_required"}
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=()))  # surrogates and control characters among them
    | st.sampled_from([0, -1, 2**31, 2**63, 2**64, 1e308, "sms", "ada", "sequential", "parallel", "\ud800", "\0"]),
    lambda children: st.lists(children, max_size=12) | st.dictionaries(st.text(max_size=9), children, max_size=4),
    max_leaves=8,
)


@pytest.fixture
def scope(db: None) -> TenantScope:
    owner = api_client("free")
    assert owner.organization
    application = Application.objects.get(organization=owner.organization)
    owner.document()
    return TenantScope(owner.organization.pk, "sandbox", "free", application.pk)


@pytest.fixture
def document(scope: TenantScope) -> int:
    return Document.objects.get().pk


def nodes(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every node of a JSON value."""
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from nodes(value[key], (*path, key))


def replaced(value: Any, path: tuple[Any, ...], by: Any) -> Any:
    if not path:
        return by
    changed = copy.deepcopy(value)
    place = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = by
    return changed


EXAMPLE = payload(1, send_email=True, identity_declaration_accepted=True, callback_url="https://x.example/")
EXAMPLE["signers"][0] |= {"phone": "+33612345678", "otp_channel": "email"}
EXAMPLE |= {"copies": [{"first_name": "K", "last_name": "L", "email": "k@example.com"}], "decline_allowed": True}
EXAMPLE["documents"][0]["signers"][0]["fields"] = [
    {"name": "a", "type": "choice", "options": ["x", "y"], "value": "x", "read_only": True, "placement": rectangle()},
    {"name": "b", "type": "number", "minimum": 1, "maximum": 2.5, "label": "B", "placement": tag("{{grace}}")},
    {"name": "c", "type": "date", "minimum": "2026-01-01", "required": False, "placement": rectangle(width=80)},
    {"name": "d", "type": "text", "value": "v", "max_length": 9, "font_size": 8, "placement": rectangle()},
]
EXAMPLE["signers"][0]["role"] = "signer"
EXAMPLE["documents"][0]["signers"][0]["stamps"] = [tag("{{ada}}", optional=True), rectangle(width=80, height=30)]


@pytest.mark.thorough
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(places=st.lists(st.tuples(st.sampled_from(list(nodes(EXAMPLE))), json_values), min_size=1, max_size=3))
def test_a_payload_changed_anywhere(
    scope: TenantScope, document: int, places: list[tuple[tuple[Any, ...], Any]]
) -> None:
    value: Any = replaced(EXAMPLE, ("documents", 0, "id"), document)
    for path, by in places:
        try:
            value = replaced(value, path, by)
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change removed this place
    outcome(scope, value)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=json_values)
def test_any_value_at_all(scope: TenantScope, value: Any) -> None:
    outcome(scope, value)


def outcome(scope: TenantScope, value: Any) -> None:
    try:
        plan = make_plan(scope, json.loads(json.dumps(value)))
    except DomainError as error:
        assert error.code in CODES
        assert 10 < len(error.message) < 20_000
        error.message.encode("utf-8", "backslashreplace")
    else:
        assert isinstance(plan, RequestPlan)
        assert all(planned.placements for planned in plan.documents)


def test_each_file_is_searched_once_with_all_its_tags(
    scope: TenantScope, document: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This holds however often a file is listed; a file without tags is not even read."""
    searches: list[list[str]] = []

    def watched(content: Any, tags: list[str], **more: Any) -> Any:
        searches.append(tags)
        return find_tags(content, tags, **more)

    monkeypatch.setattr(placing, "find_tags", watched)
    content = payload(document)
    asked = [{"name": "a", "type": "text", "placement": tag("{{last}}")}]
    content["documents"][0]["signers"][0]["fields"] = asked
    content["documents"][0]["signers"][1]["stamps"] = [tag("{{grace}}"), tag("{{ada}}"), tag("no", optional=True)]
    make_plan(scope, content)
    assert searches == [["no", "{{ada}}", "{{grace}}", "{{last}}"]]
    with pytest.raises(DomainError, match="listed more than once"):
        make_plan(scope, content | {"documents": content["documents"] * 3})
    assert len(searches) == 2
    for assignment in content["documents"][0]["signers"]:
        assignment |= {"stamps": [rectangle()], "fields": None}
    monkeypatch.setattr(store, "get", None)
    make_plan(scope, content)
    assert len(searches) == 2
