"""Sending a draft is the creation of a request, once, within the month's quota."""

from datetime import UTC, datetime
from typing import Any

import pytest

from paraph.audit_trail.models import Entry
from paraph.counts.models import Count
from paraph.drafts.models import Draft
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.signature_requests.models import SignatureRequest
from paraph.tenants.limits import web_sends
from paraph.tenants.models import Activity
from paraph.webhooks.models import Delivery
from tests.drafts import stored
from tests.drafts.author import Author, author
from tests.factories import jobs
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
    assert stored.signers(drafts[1])  # nothing of it is lost
    monkeypatch.setattr(clock, "now", lambda: datetime(2027, 1, 1, tzinfo=UTC))
    charles.send(drafts[1])


def test_no_send_at_all_where_the_operator_allows_none(settings: Any) -> None:
    settings.PARAPH = settings.PARAPH.model_copy(update={"web_sends_free": 0})
    charles = author("free")
    with pytest.raises(DomainError, match="all 0 requests"):
        charles.send(charles.draft())


def test_enterprise_has_no_limit_and_is_counted(settings: Any) -> None:
    settings.PARAPH = settings.PARAPH.model_copy(update={"web_sends_free": 0, "web_sends_pro": 0})
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
