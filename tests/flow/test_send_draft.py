"""Sending a draft, or each row of a bulk send, creates a request, once, within the quota of the month; a duplicate of a
request is a draft with all that its sender gave."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db.models import F

from paraph.audit_trail.models import Entry
from paraph.counts.models import Count
from paraph.drafts.models import Draft
from paraph.drafts.review import refusals
from paraph.flow.ending import end_early
from paraph.flow.housekeeping.retention import delete_files
from paraph.flow.personal_data.erase import erase_signer
from paraph.flow.sending import templates as module
from paraph.flow.sending.drafts import duplicate
from paraph.flow.sending.templates import cancel_bulk_send, delete_template, send_rows, start_bulk_send
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.request_templates.models import BulkRow, BulkSend, Template
from paraph.signature_requests.fields.entry import write
from paraph.signature_requests.models import Field, Placement, SignatureRequest, Signer
from paraph.tenants.admin_log import OPERATOR
from paraph.tenants.limits import web_sends
from paraph.tenants.models import Activity, BrandingProfile, Role
from paraph.webhooks.models import Delivery
from tests.drafts import stored
from tests.drafts.author import IBAN, PETS, SIGNED_ON, Author, asking, author
from tests.factories import jobs
from tests.request_templates.kept import bulk_of, csv_of, sending, template_of
from tests.tenancy import suspend
from tests.threads import at_once

pytestmark = pytest.mark.django_db


def test_a_draft_becomes_a_production_request_of_the_member() -> None:
    charles = author("free")
    draft = charles.draft(signers=2)
    request = SignatureRequest.objects.get(pk=charles.send(draft))
    assert (request.environment, request.application_id, request.sent_by) == ("production", None, charles.member.user)
    assert request.send_email and request.notify_signers_on_completion
    assert [name for name, _ in jobs()] == ["invite", "invite"]
    assert not Delivery.objects.exists()
    assert web_sends(request.organization_id, "free").sent == 1
    assert [act.action for act in Activity.objects.all()][-1] == "request.sent"
    made, declared = Entry.objects.filter(request=request).order_by("position")
    assert (made.metadata["sent_by"], made.ip) == (charles.member.user.email, "203.0.113.9")
    assert declared.event_type == "signature_request.identity_declared"


def test_signers_in_order_are_invited_one_after_the_other(charles: Author) -> None:
    draft = charles.draft(signers=2)
    Draft.objects.update(locale="fr")
    stored.change(mode="sequential")
    request = SignatureRequest.objects.get(pk=charles.send(draft))
    assert (request.mode, request.locale) == ("sequential", "fr")
    assert [name for name, _ in jobs()] == ["invite"]


def test_what_the_api_refuses_is_refused_and_counts_nothing(charles: Author) -> None:
    draft = charles.draft()
    stored.change_signers(email="nobody")
    with pytest.raises(DomainError, match="nobody"):
        charles.send(draft)
    assert not SignatureRequest.objects.exists() and not Count.objects.exists() and not jobs()


def test_the_quota_ends_and_comes_again_with_the_month(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.PARAPH = settings.PARAPH.model_copy(update={"web_sends_free": 1})
    charles = author("free")
    drafts = [charles.draft() for _ in range(3)]
    monkeypatch.setattr(clock, "now", lambda: datetime(2026, 12, 31, 23, 59, tzinfo=UTC))
    charles.send(drafts[0])
    with pytest.raises(DomainError, match="2027-01-01") as refused:
        charles.send(drafts[1])
    assert refused.value.code == "web_sends_used_up"
    assert stored.signers(drafts[1])  # the draft keeps everything
    monkeypatch.setattr(clock, "now", lambda: datetime(2027, 1, 1, tzinfo=UTC))
    charles.send(drafts[1])


def test_an_operator_may_allow_none_and_enterprise_has_no_limit_and_is_counted(settings: Any) -> None:
    settings.PARAPH = settings.PARAPH.model_copy(update={"web_sends_free": 0, "web_sends_pro": 0})
    charles = author("free")
    with pytest.raises(DomainError, match="all 0 requests"):
        charles.send(charles.draft())
    charles = author("enterprise")
    charles.send(charles.draft())
    quota = web_sends(charles.scope.organization_id, "enterprise")
    assert (quota.sent, quota.limit, quota.left) == (1, None, None)


@pytest.mark.django_db(transaction=True)
def test_the_quota_is_exact_in_parallel(settings: Any) -> None:
    settings.PARAPH = settings.PARAPH.model_copy(update={"web_sends_free": 3})
    charles = author("free")
    drafts = [charles.draft() for _ in range(7)]
    sent = at_once(*[lambda draft=draft: charles.send(draft) for draft in drafts])
    assert SignatureRequest.objects.count() == Count.objects.get(scope__startswith="web-sends:").count == 3
    assert sent.count("web_sends_used_up") == 4


@pytest.mark.django_db(transaction=True)
def test_one_draft_is_sent_once_however_often_the_button_is_pressed(charles: Author) -> None:
    draft = charles.draft()
    sent = at_once(*[lambda: charles.send(draft)] * 4)
    assert sent == [SignatureRequest.objects.get().pk] * 4
    assert SignatureRequest.objects.count() == Count.objects.get(scope__startswith="web-sends:").count == 1
    assert Draft.objects.get().content == {}, "names and addresses live on in the request alone"


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
    assert [name for name, _ in jobs()].count("send_rows") == 2  # another job sends the rest
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
        broken.setattr(BulkRow, "save", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            send_rows(bulk.pk)
    assert not SignatureRequest.objects.exists() and not Count.objects.filter(scope__startswith="web-sends:").exists()
    assert [name for name, _ in jobs()] == ["send_rows"]
    send_rows(bulk.pk)
    assert states(bulk) == ["sent"] * 5 and SignatureRequest.objects.count() == 5


_RENT = {"name": "Rent", "type": "number", "label": "Rent per month", "value": "1250.50", "minimum": 1}
_AGREED = {"name": "Agreed", "type": "checkbox", "value": True, "required": False}
_TITLE = {"title": "Lease of the pier", "subject": "Your lease", "message": "Dear Ada,\nplease sign."}
_COPY = {"first_name": "Charles", "last_name": "Babbage", "email": "charles@example.com"}
_OPTIONS: dict[str, Any] = {
    "mode": "sequential",
    "validity_days": 12,
    "send_email": False,
    "reminders": None,
    "decline_allowed": True,
    "initials_required": True,
    "copies": [_COPY],
}


def sent(charles: Author, **options: Any) -> SignatureRequest:
    """A request that was sent from a draft with fields, values, words and options."""
    draft = asking(charles, IBAN, PETS, SIGNED_ON, _RENT, _AGREED, signers=2)
    Draft.objects.filter(pk=draft.pk).update(locale="fr", **_TITLE)
    given = {name: value for name, value in (_OPTIONS | options).items() if value is not None}
    stored.change(draft, **given)
    return SignatureRequest.objects.get(pk=charles.send(Draft.objects.get(pk=draft.pk)))


def duplicated(charles: Author, request: SignatureRequest) -> Draft:
    draft, loses_branding = duplicate(charles.scope, request.pk, charles.member.user)
    assert not loses_branding
    return Draft.objects.get(pk=draft.pk)


def facts(request: SignatureRequest) -> dict[str, Any]:
    """Return everything stored of a request except its times, its status and the ids of rows."""

    def without(row: Mapping[str, Any], *names: str) -> dict[str, Any]:
        return {name: value for name, value in row.items() if name not in names}

    [own] = SignatureRequest.objects.filter(pk=request.pk).values()
    of_signers = ("first_name", "last_name", "email", "phone", "role", "order", "otp_channel", "language")
    whose = {"order": F("signer__order"), "document": F("request_document__document")}
    places = [model.objects.filter(request_document__request=request).order_by("pk") for model in (Placement, Field)]
    return {
        "request": without(own, "id", "created_at", "expires_at", "status", "ended_early_at", "ended_reason"),
        "documents": list(request.request_documents.values_list("document", flat=True)),
        "signers": list(request.signers.values(*of_signers)),
        "copies": list(request.copies.values("first_name", "last_name", "email")),
        "places": [
            without(row, "id", "signer_id", "request_document_id")
            for rows in places
            for row in rows.annotate(**whose).values()
        ],
    }


_MAILED = {"send_email": True, "reminders": {"every_days": 3, "at_most": 2}, "mode": "parallel", "copies": None}


@pytest.mark.parametrize("options", [{}, _MAILED])
def test_what_is_sent_again_is_the_same(options: dict[str, Any], charles: Author) -> None:
    request = sent(charles, **options)
    end_early(OPERATOR, request.pk, "The wrong flat.")
    draft = duplicated(charles, request)
    assert refusals(charles.scope, draft) == []
    assert (draft.title, draft.step, draft.environment) == ("Lease of the pier", "review", "production")
    again = SignatureRequest.objects.get(pk=charles.send(draft))
    assert facts(again) == facts(request)
    values = {field["name"]: field["value"] for field in facts(again)["places"] if "name" in field}
    assert values == {"IBAN": None, "Pets": None, "Date": None, "Rent": "1250.50", "Agreed": True}
    assert (again.status, request.pk == again.pk) == ("pending", False)


def test_what_signers_and_applications_added_is_left_out(charles: Author) -> None:
    request = sent(charles)
    request.signers.update(locale="sv")
    signer = request.signers.get(order=1)
    fields = {field.name: field.pk for field in signer.fields.all()}
    write(signer, {fields["IBAN"]: "GB29 NWBK 6016", fields["Rent"]: "999"})
    signer.status, signer.signed_at, signer.language = "signed", clock.now(), "pt"
    signer.save()
    noted = {"external_id": "lease-4711", "callback_url": "https://a.example", "redirect_url": "https://b.example"}
    SignatureRequest.objects.filter(pk=request.pk).update(metadata={"flat": "3"}, **noted)
    draft = duplicated(charles, request)
    assert [signer.language for signer in draft.signers] == ["pt", ""], "named, and not that of the page"
    assert {"metadata", *noted} & draft.content.keys() == set()
    said = str(draft.content)
    assert "GB29" not in said and "999" not in said and "1250.50" in said


def test_where_the_branding_profile_is_gone_it_has_the_default_one(charles: Author) -> None:
    colors = {"background_color": "#ffffff", "text_color": "#000000", "accent_color": "#1f4fd8"}
    profile = BrandingProfile.objects.create(organization=charles.member.organization, name="Sea", **colors)
    request = sent(charles, branding_profile_id=profile.pk)
    assert duplicated(charles, request).content["branding_profile_id"] == profile.pk
    BrandingProfile.objects.update(deleted_at=clock.now())
    draft, loses_branding = duplicate(charles.scope, request.pk, charles.member.user)
    assert loses_branding and "branding_profile_id" not in draft.content
    assert refusals(charles.scope, draft) == []


def test_who_was_erased_is_not_named_again_and_where_files_were_deleted_nothing_is_made(charles: Author) -> None:
    request = sent(charles)
    end_early(OPERATOR, request.pk, "")
    erase_signer(OPERATOR, request.signers.get(order=1).pk)
    first, second = duplicated(charles, request).signers
    assert (first.email, first.first_name, second.first_name) == ("", "", "Grace")
    delete_files(request.pk)
    made = Draft.objects.count()
    with pytest.raises(DomainError, match="Its files were deleted") as refused:
        duplicate(charles.scope, request.pk, charles.member.user)
    assert refused.value.code == "conflict" and Draft.objects.count() == made
