"""People of requests are forgotten, and nothing else is, when their organization's rule says so, many at a time."""

from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
from procrastinate.contrib.django import app
from procrastinate.contrib.django.models import ProcrastinateJob

from paraph.audit_trail.journal import broken_at, follow
from paraph.database.rows import insert
from paraph.flow.ending import delete_organization, end_early
from paraph.flow.housekeeping.retention import FILES, PEOPLE, claim_due, delete_due_files
from paraph.flow.personal_data import erase
from paraph.flow.personal_data.erase import forget_due_people, forget_fixed_people
from paraph.flow.personal_data.unsent import UNSENT, erase_copies
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.messaging.gateways import capture
from paraph.messaging.models import CapturedMessage
from paraph.operations.pending_work import longest_overdue
from paraph.queue.jobs import defer_last
from paraph.request_templates.models import Template
from paraph.signature_requests.models import ERASED_DOMAIN, SearchTerm, SignatureRequest
from paraph.tenants.admin_log import OPERATOR
from paraph.tenants.lifecycle import change_retention, retention_days
from paraph.tenants.models import Activity, Retention
from tests.drafts.author import Author
from tests.factories import Scene, scene
from tests.flow.test_show_person import columns_that_name_her, signed_everywhere
from tests.request_templates.kept import template_of
from tests.tenancy import set_retention
from tests.threads import beside_each_other

pytestmark = pytest.mark.django_db


def ended(days_ago: float, **given: Any) -> Scene:
    """A request that was withdrawn so many days ago and still has its files."""
    made = scene(**given)
    end_early(OPERATOR, made.request.pk, "Signed on paper.")
    moment = clock.now() - timedelta(days=days_ago)
    SignatureRequest.objects.filter(pk=made.request.pk).update(ended_early_at=moment)
    return made


def forgotten(made: Scene) -> bool:
    made.request.refresh_from_db()
    people: list[Any] = [*made.request.signers.all(), *made.request.copies.all()]
    gone = {each.email.endswith(ERASED_DOMAIN) for each in people}
    assert gone == {made.request.people_forgotten_at is not None}
    return gone == {True}


def tick() -> None:
    """Begin what is due, as the periodic task does every five minutes."""
    [begin] = [task for task in app.periodic_registry.periodic_tasks.values() if "begin_what" in task.task.name]
    begin.task.func(timestamp=0)


def due_now(*made: Scene) -> None:
    """Mark the files of these requests as deleted and set a retention that makes their people due."""
    for each in made:
        SignatureRequest.objects.filter(pk=each.request.pk).update(files_deleted_at=clock.now())
        set_retention(each.request.organization_id, "sandbox", 10, 20)


def test_every_place_of_a_request_is_emptied_once_its_files_are_gone_and_the_chain_holds() -> None:
    made = signed_everywhere()
    sender = {"sent_by": "sender@lovelace.example"}  # not a signer
    insert([follow(made.request, "signature_request.identity_declared", metadata=sender)])
    hashes = [bytes(entry.hash) for entry in made.entries()]
    SignatureRequest.objects.filter(completed_at=None).update(ended_early_at=clock.now() - timedelta(days=21))
    SignatureRequest.objects.exclude(completed_at=None).update(completed_at=clock.now() - timedelta(days=21))
    CapturedMessage.objects.update(created_at=clock.now() - timedelta(days=21))
    for organization_id in set(SignatureRequest.objects.values_list("organization_id", flat=True)):
        set_retention(organization_id, "sandbox", 10, 20)
    assert (forget_due_people(), delete_due_files(), forget_due_people()) == (0, 2, 2)
    assert columns_that_name_her() <= {column for place in UNSENT for column in place.columns} - {
        "journal_entry.metadata", "webhooks_event.payload", "webhooks_delivery.payload", "messaging_capturedmessage.to",
        "signature_requests_copyrecipient.email",
    }  # fmt: skip
    assert [bytes(entry.hash) for entry in made.entries()] == hashes and broken_at(made.entries()) is None
    assert forgotten(made) and longest_overdue(FILES) is longest_overdue(PEOPLE) is None


def test_people_go_on_the_day_after_their_time_and_stay_where_files_are_or_no_rule_is(made: Scene) -> None:
    late, early, without, with_files = ended(21.01, signers=2, copies=1), ended(19.9), ended(4000), ended(4000)
    set_retention(without.request.organization_id, "sandbox", 10)
    assert delete_due_files() == 1
    due_now(late, early)
    set_retention(with_files.request.organization_id, "sandbox", 10, 20)
    set_retention(made.request.organization_id, "sandbox", 1, 1)
    SignatureRequest.objects.filter(pk=made.request.pk).update(expires_at=clock.now() - timedelta(days=30))
    assert forget_due_people() == 1
    assert [forgotten(each) for each in (late, early, without, with_files, made)] == [True, *[False] * 4]
    assert delete_due_files() == 1, "of the one whose files were there: the last is pending"


def test_the_activity_log_has_one_entry_for_all_of_an_organization(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erase, "_AT_ONCE", 2)
    made = [ended(30) for _ in range(5)]
    organization = made[0].request.organization
    SignatureRequest.objects.update(organization=organization)
    due_now(*made[:1])
    SignatureRequest.objects.update(files_deleted_at=clock.now())
    acts = Activity.objects.filter(organization=organization, pk__gt=Activity.objects.latest("pk").pk)
    assert forget_due_people() == 5 and not acts.exists()
    tick()
    [act] = acts
    assert (act.action, act.actor_kind, act.organization_id) == ("people.forgotten", "service", organization.pk)
    assert act.after == {"environment": "sandbox", "requests": 5}
    tick()
    assert acts.count() == 1


def test_a_run_that_is_killed_loses_neither_people_nor_their_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erase, "_AT_ONCE", 1)
    made = [ended(30) for _ in range(2)]
    SignatureRequest.objects.update(organization=made[0].request.organization)
    due_now(made[0])
    SignatureRequest.objects.update(files_deleted_at=clock.now())
    calls: Any = iter([erase_copies])

    def killed_later(*of: Any) -> int:
        count: int = next(calls, _killed)(*of)
        return count

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(erase, "erase_copies", killed_later)
        forget_due_people()
    assert sorted(map(forgotten, made)) == [False, True]
    assert Retention.objects.get().people_forgotten == 1
    assert not Activity.objects.filter(action="people.forgotten").exists()
    assert forget_due_people() == 1
    tick()
    assert Activity.objects.get(action="people.forgotten").after["requests"] == 2


def _killed(*_: Any) -> int:
    """Die in the middle of the second request, whose signers have pseudonyms already."""
    raise KeyboardInterrupt


def test_a_rule_that_is_taken_back_tells_what_was_done_before() -> None:
    made = ended(30)
    due_now(made)
    Retention.objects.update(people_forgotten=7)
    change_retention(made.request.organization_id, OPERATOR, people_days={"sandbox": None})
    acts = Activity.objects.filter(action__in=("people.forgotten", "retention.set")).order_by("-pk")[:2]
    assert [act.action for act in acts] == ["retention.set", "people.forgotten"]
    assert acts[0].before == {"environment": "sandbox", "days": 10, "people_days": 20}
    assert acts[0].after == {"environment": "sandbox", "days": 10, "people_days": None}
    assert acts[1].after["requests"] == 7
    assert forget_due_people() == 0


@pytest.mark.django_db(transaction=True)
def test_several_workers_at_once_share_the_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    made = [ended(30, copies=1) for _ in range(6)]
    due_now(*made)
    monkeypatch.setattr(erase, "_AT_ONCE", 1)
    taken, at_once = list[int](), Barrier(2, timeout=60)

    def claim(*of: Any) -> list[int]:
        found = claim_due(*of)
        taken.extend(found)
        if len(taken) <= 2:
            at_once.wait()  # each has claimed a request and changed nothing yet
        return found

    monkeypatch.setattr(erase, "claim_due", claim)
    assert sum(beside_each_other(forget_due_people, forget_due_people)) == 6
    assert sorted(taken) == sorted(each.request.pk for each in made)
    assert all(map(forgotten, made))
    defer_last("do_what_is_due", part=3)  # one job is still under way
    tick()
    assert not Activity.objects.filter(action="people.forgotten").exists()
    ProcrastinateJob.objects.all()._raw_delete("default")
    tick()
    assert Activity.objects.filter(action="people.forgotten").count() == 6
    assert all(broken_at(each.entries()) is None for each in made)


def test_namesakes_of_two_requests_get_pseudonyms_of_their_own() -> None:
    made = [ended(30) for _ in range(2)]
    for each in made:
        facts = {"recipient": "ada1@example.com", "resend": False}
        insert([follow(each.request, "signer.otp_sent", signer_id=each.signers[0].pk, metadata=facts)])
    due_now(*made)
    assert forget_due_people() == 2
    for each in made:
        recipients = [entry.metadata.get("recipient") for entry in each.entries() if "recipient" in entry.metadata]
        assert recipients == [f"signer-{each.signers[0].pk}{ERASED_DOMAIN}"]


def test_what_was_captured_later_for_the_same_address_stays() -> None:
    made = ended(30)
    due_now(made)
    for days, text in ((31, "old"), (5, "new")):
        capture("email", "ada1@example.com", "Please sign", text)
        CapturedMessage.objects.filter(text=text).update(created_at=clock.now() - timedelta(days=days))
    assert forget_due_people() == 1
    assert list(CapturedMessage.objects.values_list("text", flat=True)) == ["new"]


def test_rules_have_bounds_and_people_go_with_their_files_or_later() -> None:
    organization_id = scene().request.organization_id
    wrong = [(0, None), (-1, None), (36_501, None), (None, 30), (30, 29), (30, 0), (30, 36_501)]
    for days, people_days in wrong:
        with pytest.raises(DomainError, match=r"Files name people|days must be from 1") as refused:
            set_retention(organization_id, "sandbox", days, people_days)
        assert refused.value.code == "validation_error" and not Retention.objects.exists(), (days, people_days)
    with pytest.raises(DomainError, match="environment must be"):
        set_retention(organization_id, "test", 1)
    with pytest.raises(DomainError, match="no organization 999999"):
        set_retention(999999, "sandbox", 1)
    set_retention(organization_id, "sandbox", 10, 20)
    for later in (None, 21):
        with pytest.raises(DomainError, match="Files name people"):
            change_retention(organization_id, OPERATOR, {"sandbox": later})
    change_retention(organization_id, OPERATOR, {"sandbox": 15})
    change_retention(organization_id, OPERATOR, people_days={"sandbox": 25})
    assert retention_days(organization_id) == {"sandbox": 15, "production": None}
    assert retention_days(organization_id, "people_days") == {"sandbox": 25, "production": None}


def test_a_deleted_organization_forgets_its_people_with_its_files() -> None:
    ruled, other = ended(100), ended(100)
    set_retention(ruled.request.organization_id, "sandbox", 10, 20)
    for made in (ruled, other):
        delete_organization(made.request.organization_id, OPERATOR)
    rules = Retention.objects.filter(environment="sandbox").order_by("organization_id")
    assert list(rules.values_list("days", "people_days")) == [(10, 20), (90, 90)]
    assert (delete_due_files(), forget_due_people()) == (2, 2)


def test_who_always_signs_is_forgotten_once_no_request_names_them(charles: Author) -> None:
    template = template_of(charles)
    person = {"first_name": "Ada", "last_name": "Lovelace", "email": "Ada1@example.com"}
    template.content["signers"][0] |= person
    template.message = "Ada Lovelace signs, too."
    template.save()
    set_retention(charles.scope.organization_id, charles.scope.environment, 10, 20)
    assert forget_fixed_people() == 0, "changed just now"
    Template.objects.update(changed_at=clock.now() - timedelta(days=21))
    made = scene(environment=charles.scope.environment)
    SignatureRequest.objects.filter(pk=made.request.pk).update(organization_id=charles.scope.organization_id)
    SearchTerm.objects.update(organization_id=charles.scope.organization_id)
    assert forget_fixed_people() == 0, "a request names her"
    SearchTerm.objects.all().delete()
    assert forget_fixed_people() == 1
    template.refresh_from_db()
    assert not template.roles[0].person and template.message == ""
    assert forget_fixed_people() == 0
