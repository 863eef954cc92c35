"""What operators do is noted like what members do, and stands in the service's log as well."""

from typing import Any

import pytest
from structlog.testing import capture_logs

from paraph.flow.ending import delete_organization, end_early
from paraph.flow.personal_data.erase import erase_signer
from paraph.kernel.errors import DomainError
from paraph.tenants.admin_log import OPERATOR, SERVICE
from paraph.tenants.lifecycle import change_retention, resume_organization, suspend_organization
from paraph.tenants.models import Activity
from paraph.tenants.organizations import change_settings, create_organization
from tests.factories import Scene

pytestmark = pytest.mark.django_db


def noted(organization_id: int) -> list[tuple[Any, ...]]:
    acts = Activity.objects.filter(organization_id=organization_id)
    assert {act.actor_kind for act in acts} <= {"operator"}
    return [(act.action, act.before, act.after) for act in acts]


def test_acts_on_an_organization() -> None:
    made = create_organization(OPERATOR, "Acme", "free")
    suspend_organization(OPERATOR, made.pk)
    with pytest.raises(DomainError, match="suspended already"):
        suspend_organization(OPERATOR, made.pk)
    resume_organization(OPERATOR, made.pk)
    change_settings(made.pk, OPERATOR, plan="pro")
    change_retention(made.pk, OPERATOR, {"sandbox": 30})
    with pytest.raises(DomainError, match="environment must be one of"):
        change_retention(made.pk, OPERATOR, {"moon": 30})
    assert delete_organization(made.pk, OPERATOR) == 0
    assert noted(made.pk) == [
        ("organization.created", {}, {"plan": "free"}),
        ("organization.suspended", {}, {}),
        ("organization.resumed", {}, {}),
        ("organization.updated", {"plan": "free"}, {"plan": "pro"}),
        (
            "retention.set",
            {"environment": "sandbox", "days": None, "people_days": None},
            {"environment": "sandbox", "days": 30, "people_days": None},
        ),
        ("organization.deleted", {}, {}),
    ]


def test_acts_on_a_request(made: Scene) -> None:
    request_id, signer_id = made.request.pk, made.signers[0].pk
    end_early(OPERATOR, request_id, "Wrong contract")
    erase_signer(OPERATOR, signer_id)
    assert noted(made.request.organization_id) == [
        ("request.ended_early", {}, {"reason": "Wrong contract"}),
        ("signer.erased", {}, {"request_id": request_id, "signer_id": signer_id}),
    ]


def test_the_log_has_what_operators_did_once_it_is_done(django_capture_on_commit_callbacks: Any) -> None:
    with capture_logs() as lines, django_capture_on_commit_callbacks(execute=True):
        made = create_organization(OPERATOR, "Acme", "free")
        suspend_organization(SERVICE, made.pk)
        assert lines == []
    [line] = lines
    assert (line["event"], line["action"], line["organization_id"]) == ("operator", "organization.created", made.pk)
    assert line["facts"] == {"plan": "free"}
