"""Each row of a bulk send is sent once, within the quota."""

from typing import Any

import pytest

from paraph.audit_trail.models import Entry
from paraph.counts.models import Count
from paraph.flow.sending import templates as module
from paraph.flow.sending.templates import cancel_bulk_send, delete_template, send_rows, start_bulk_send
from paraph.kernel.errors import DomainError
from paraph.request_templates.models import BulkRow, BulkSend, Template
from paraph.signature_requests.models import SignatureRequest, Signer
from paraph.tenants.models import Activity, Role
from tests.drafts.author import Author, author
from tests.factories import jobs
from tests.request_templates.kept import bulk_of, csv_of, sending, template_of
from tests.tenancy import suspend
from tests.threads import at_once

pytestmark = pytest.mark.django_db

PEOPLE = [f"P{number} X p{number}@example.com" for number in range(5)]


def begun(charles: Author, *people: str) -> BulkSend:
    bulk = bulk_of(charles, template_of(charles), csv_of(*people or PEOPLE))
    Template.objects.update(subject="Your lease", message="Dear tenant")
    start(charles, bulk)
    return bulk


def start(charles: Author, bulk: BulkSend, *, skip: bool = False) -> None:
    start_bulk_send(charles.scope, bulk.pk, sending(charles), skip_wrong=skip)


def states(bulk: BulkSend) -> list[str]:
    return [row.state for row in BulkRow.objects.filter(bulk_send=bulk)]


def test_each_row_becomes_a_request_of_its_own_and_keeps_no_address(charles: Author) -> None:
    bulk = begun(charles)
    assert jobs() == [("send_rows", {"bulk_send_id": bulk.pk})]
    send_rows(bulk.pk)
    assert sorted(Signer.objects.values_list("email", flat=True)) == sorted(row.split()[-1] for row in PEOPLE)
    assert SignatureRequest.objects.filter(sent_by=charles.member.user, environment="production").count() == 5
    assert [name for name, _ in jobs()].count("invite") == 5
    written = SignatureRequest.objects.values_list("title", "subject", "message").distinct()
    assert list(written) == [("Lease", "Your lease", "Dear tenant")]
    assert Count.objects.get(scope__startswith="web-sends:").count == 5
    bulk.refresh_from_db()
    assert bulk.status == "done" and states(bulk) == ["sent"] * 5
    assert "@" not in repr([vars(row) for row in bulk.rows.all()]), "no name or address stays"
    assert {row.request_id for row in bulk.rows.all()} == set(SignatureRequest.objects.values_list("pk", flat=True))
    assert Entry.objects.filter(event_type="signature_request.created", ip="203.0.113.9").count() == 5
    assert [act.action for act in Activity.objects.all()][1:] == ["bulk_send.started", *["request.sent"] * 5]


def test_nothing_is_sent_while_a_row_is_wrong_unless_it_is_skipped(charles: Author) -> None:
    bulk = bulk_of(charles, template_of(charles), csv_of("A B nobody", PEOPLE[0]))
    with pytest.raises(DomainError, match="errors"):
        start(charles, bulk)
    assert not jobs()
    start(charles, bulk, skip=True)
    send_rows(bulk.pk)
    assert states(bulk) == ["wrong", "sent"]


def test_rows_beyond_the_quota_say_so_and_can_be_sent_later(settings: Any) -> None:
    settings.PARAPH = settings.PARAPH.model_copy(update={"web_sends_pro": 3})
    charles = author()
    bulk = begun(charles)
    send_rows(bulk.pk)
    assert states(bulk) == ["sent"] * 3 + ["refused"] * 2
    assert "used all 3 requests" in BulkRow.objects.get(number=6).problems[0]
    assert SignatureRequest.objects.count() == Count.objects.get(scope__startswith="web-sends:").count == 3
    settings.PARAPH = settings.PARAPH.model_copy(update={"web_sends_pro": 5})
    start(charles, bulk)
    send_rows(bulk.pk)
    assert states(bulk) == ["sent"] * 5
    assert SignatureRequest.objects.count() == Count.objects.get(scope__startswith="web-sends:").count == 5


def test_a_cancelled_one_sends_no_further_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_RUN_SECONDS", -1)
    charles = author()
    bulk = begun(charles)
    send_rows(bulk.pk)
    assert [name for name, _ in jobs()].count("send_rows") == 2  # the rest is another job's
    cancel_bulk_send(charles.scope, bulk.pk, charles.actor)
    send_rows(bulk.pk)
    assert states(bulk) == ["sent"] + ["ready"] * 4
    with pytest.raises(DomainError, match="cancelled"):
        start(charles, bulk)


@pytest.mark.parametrize("cause", ["suspended", "removed", "observer"])
def test_nothing_is_sent_for_those_who_may_not_any_more(cause: str, charles: Author) -> None:
    bulk = begun(charles)
    if cause == "suspended":
        suspend(charles.scope.organization_id)
    elif cause == "removed":
        charles.member.delete()
    else:
        charles.member.role = Role.OBSERVER
        charles.member.save()
    send_rows(bulk.pk)
    assert states(bulk) == ["refused"] * 5 and not SignatureRequest.objects.exists()


def test_a_template_stays_while_it_is_sent(charles: Author) -> None:
    bulk = begun(charles)
    template = bulk.template
    assert template
    with pytest.raises(DomainError, match="in progress"):
        delete_template(charles.scope, template.pk, charles.actor)
    send_rows(bulk.pk)
    delete_template(charles.scope, template.pk, charles.actor)
    with pytest.raises(DomainError, match="deleted"):
        start(charles, bulk)


@pytest.mark.django_db(transaction=True)
def test_workers_beside_each_other_send_each_row_once() -> None:
    bulk = begun(author())
    at_once(*[lambda: send_rows(bulk.pk)] * 4)
    assert states(bulk) == ["sent"] * 5
    assert SignatureRequest.objects.count() == Count.objects.get(scope__startswith="web-sends:").count == 5


@pytest.mark.django_db(transaction=True)
def test_it_is_begun_once_however_often_the_button_is_pressed(charles: Author) -> None:
    bulk = bulk_of(charles, template_of(charles), csv_of(*PEOPLE))
    at_once(*[lambda: start(charles, bulk)] * 4)
    assert [name for name, _ in jobs()] == ["send_rows"]


def test_a_row_is_sent_and_noted_at_once_or_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    bulk = begun(author())
    with monkeypatch.context() as broken:
        broken.setattr(BulkRow, "save", _fail)
        with pytest.raises(ZeroDivisionError):
            send_rows(bulk.pk)
    assert not SignatureRequest.objects.exists() and not Count.objects.filter(scope__startswith="web-sends:").exists()
    assert [name for name, _ in jobs()] == ["send_rows"]
    send_rows(bulk.pk)
    assert states(bulk) == ["sent"] * 5 and SignatureRequest.objects.count() == 5


def _fail(*_arguments: object, **_more: object) -> None:
    raise ZeroDivisionError
