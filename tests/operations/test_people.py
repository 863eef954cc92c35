"""Whom messages of a sandbox reach where strangers can have a key, and how somebody confirms that they want them; what
is kept of a person as a PDF, which has everything of the JSON in legible letters."""

import io
import re
import stat
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pypdfium2
import pytest
from django.test import Client

from paraph.counts.models import Count
from paraph.flow.personal_data.erase import show_person
from paraph.flow.sending.invite import invite
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.messaging.models import CapturedMessage
from paraph.operations.people import ask_to_confirm, vouch_for, withdraw_confirmation, write_person_file
from paraph.pdf.typesetting.person_report import ReportedPlace, person_report
from paraph.tenants.admin_log import OPERATOR
from paraph.tenants.confirmed_addresses import is_withheld
from paraph.tenants.models import Activity, ConfirmedAddress, Organization
from tests.factories import scene
from tests.flow.test_show_person import ADDRESS, PHONE, signed_everywhere, works_here
from tests.refusing import RefusingServer

pytestmark = pytest.mark.django_db
Configure = Callable[..., None]
ADA = "ada1@example.com"

UNREACHABLE = {"smtp_url": "smtp://127.0.0.1:1", "sms_url": "nonsense:"}
"""A gateway that nothing can be handed to: what goes there fails."""


@pytest.fixture(autouse=True)
def _open(configured: Configure) -> None:
    configured(registration="open")


def link(channel: str = "email") -> str:
    found = re.search(r"/confirm/\S+", CapturedMessage.objects.filter(channel=channel).latest("id").text)
    assert found
    return found.group()


@pytest.mark.parametrize(
    ("registration", "sandbox_mail", "withheld"),
    [
        ("closed", None, False),
        ("invited", None, False),
        ("open", None, True),
        ("open", "everyone", False),
        ("closed", "confirmed", True),
    ],
)
def test_who_is_written_to(configured: Configure, registration: str, sandbox_mail: str | None, withheld: bool) -> None:
    configured(registration=registration, sandbox_mail=sandbox_mail)
    organization = Organization.objects.create(name="Acme", plan="free")
    assert is_withheld(organization.pk, "sandbox", ADA) is withheld
    assert is_withheld(organization.pk, "production", ADA) is False


def test_what_is_withheld_is_kept_and_counts_as_sent(client: Client, configured: Configure) -> None:
    configured(**UNREACHABLE)
    made = scene(plan="pro", signer={"phone": "+33612345678"})
    invite(made.signers[0].pk)
    for channel in ("email", "sms"):
        answer = client.post(made.url(0, "/otp"), {"channel": channel}, content_type="application/json")
        assert answer.status_code == 200
    kept = list(CapturedMessage.objects.order_by("id"))
    sent = [(message.channel, message.to) for message in kept]
    assert sent == [("email", ADA), ("email", ADA), ("sms", "+33612345678")]
    told = made.entries()[1:]
    assert [entry.event_type for entry in told] == ["signer.notified", "signer.otp_sent", "signer.otp_sent"]
    assert [entry.metadata["acknowledgement"] for entry in told] == [f"captured:{message.pk}" for message in kept]


@pytest.mark.usefixtures("box")
def test_what_is_withheld_uses_up_nobody_elses_messages(client: Client) -> None:
    made = [scene() for _ in range(12)]
    for each in made:
        invite(each.signers[0].pk)
    code = client.post(made[0].url(0, "/otp"), {"channel": "email"}, content_type="application/json")
    assert code.status_code == 200
    assert not Count.objects.filter(scope__startswith="destination:").exists()
    assert Count.objects.filter(scope__startswith="organization:").exists()
    other = scene(environment="production")
    assert client.post(other.url(0, "/otp"), {"channel": "email"}, content_type="application/json").status_code == 200


@pytest.mark.parametrize(("channel", "recipient"), [("email", " ADA1@Example.com"), ("sms", "+33612345678")])
def test_who_confirms_is_written_to(client: Client, configured: Configure, channel: str, recipient: str) -> None:
    made = scene(plan="pro", signer={"phone": "+33612345678"})
    row = ask_to_confirm(made.request.organization_id, recipient, OPERATOR, "fr")
    address = recipient.strip().lower()
    assert (row.address, row.confirmed_at) == (address, None)
    url = link(channel)
    page = client.get(url)
    assert page.status_code == 200 and page["Content-Language"] == "fr"
    assert "Acme Ltd souhaite" in page.content.decode() and '<form method="post">' in page.content.decode()
    assert page["Cache-Control"] == "no-store" and "frame-ancestors 'none'" in page["Content-Security-Policy"]
    assert is_withheld(made.request.organization_id, "sandbox", address)  # opening the page confirms nothing
    done = Client(enforce_csrf_checks=True).post(url)
    assert done.status_code == 200 and "confirmé" in done.content.decode()
    assert not is_withheld(made.request.organization_id, "sandbox", address.upper())
    assert is_withheld(scene().request.organization_id, "sandbox", address)  # for this organization alone
    configured(**UNREACHABLE)
    answer = client.post(made.url(0, "/otp"), {"channel": channel}, content_type="application/json")
    assert answer.json()["error"]["code"] == "delivery_failed"  # the gateway was asked
    withdraw_confirmation(made.request.organization_id, recipient, OPERATOR)
    assert is_withheld(made.request.organization_id, "sandbox", address)
    assert client.post(url).status_code == 404


def test_links_are_keyed_and_end(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    organization = Organization.objects.create(name="https://evil.example", plan="free")
    ask_to_confirm(organization.pk, ADA, OPERATOR)
    first = link()
    assert "evil.example" not in CapturedMessage.objects.get().text.replace(first, "")
    monkeypatch.setattr(clock, "now", lambda now=clock.now: now() + timedelta(seconds=1))
    ask_to_confirm(organization.pk, ADA, OPERATOR)
    second = link()
    token = second.removeprefix("/confirm/").partition("?")[0]
    assert client.post(first).status_code == 404
    for forged in (token[:-1] + ("A" if token[-1] != "A" else "B"), "x" + token, token.partition(":")[0], "x"):
        assert client.post(f"/confirm/{forged}").status_code == 404
    assert client.put(second).status_code == 405
    with monkeypatch.context() as later:
        later.setattr(clock, "now", lambda now=clock.now: now() + timedelta(days=7))
        assert client.post(second).status_code == 404
    assert ConfirmedAddress.objects.get().confirmed_at is None
    assert client.post(second).status_code == 200


def test_asking_is_limited_itself(box: RefusingServer) -> None:
    organizations = [Organization.objects.create(name=f"A{number}", plan="free") for number in range(4)]
    with pytest.raises(DomainError) as refusal:
        for organization in organizations:
            ask_to_confirm(organization.pk, ADA, OPERATOR)
    assert refusal.value.code == "rate_limited" and len(box.taken) == 3


def test_mistakes_get_a_sentence(configured: Configure) -> None:
    organization = Organization.objects.create(name="Acme", plan="free")
    for recipient in ("a@localhost", "a@[127.0.0.1]", "12345", "x"):
        with pytest.raises(DomainError, match="address: “"):
            ask_to_confirm(organization.pk, recipient, OPERATOR)
    with pytest.raises(DomainError, match="no organization 999999"):
        ask_to_confirm(999999, ADA, OPERATOR)
    configured(**UNREACHABLE)
    with pytest.raises(DomainError, match="did not take"):
        ask_to_confirm(organization.pk, ADA, OPERATOR)


def test_what_an_operator_does_is_noted_without_the_address() -> None:
    organization = Organization.objects.create(name="Acme", plan="free")
    for act, withheld in ((vouch_for, False), (withdraw_confirmation, True)):
        row = act(organization.pk, ADA, OPERATOR)
        assert is_withheld(organization.pk, "sandbox", ADA) is withheld
    assert not CapturedMessage.objects.exists(), "an operator may answer for an address"
    ask_to_confirm(organization.pk, ADA, OPERATOR)
    noted = list(Activity.objects.filter(organization=organization))
    actions = [f"confirmed_address.{verb}" for verb in ("vouched_for", "withdrawn", "asked")]
    assert [act.action for act in noted] == actions and {act.actor_kind for act in noted} == {"operator"}
    assert {act.subject for act in noted} == {f"confirmed address {row.pk}"}
    assert "@" not in str([(act.subject, act.after) for act in noted])


AT = datetime(2026, 11, 23, 9, 30, tzinfo=UTC)


def text_of(pdf: bytes) -> str:
    document = pypdfium2.PdfDocument(io.BytesIO(pdf))
    pages = [document[number].get_textpage().get_text_bounded() for number in range(len(document))]
    return re.sub(r"Personaldatakeptbythisservice,.{19}Page\d+of\d+", "", plain("".join(pages)))


def plain(text: str) -> str:
    """Leave out white space, and hyphens, since PDFium takes one at the end of a line for hyphenation."""
    return re.sub(r"[\s\ufffe\x02-]", "", text)


@pytest.mark.django_db
def test_everything_that_is_kept_stands_in_the_file(tmp_path: Path) -> None:
    works_here(signed_everywhere())
    kept = show_person(ADDRESS)
    out = tmp_path / "ada.pdf"
    write_person_file(out, ADDRESS, AT, kept)
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    text = text_of(out.read_bytes())
    for each in kept:
        assert plain(each.place)[1:] in text
        values = [
            value for value in each.facts.values() if isinstance(value, str | int) and value not in ("", True, False)
        ]
        missing = [value for value in values if plain(str(value)) not in text]
        assert missing == [], each
    assert PHONE in text and "2026112309:30:00UTC" in text
    with pytest.raises(DomainError, match="exists already"):
        write_person_file(out, ADDRESS, AT, kept)
    with pytest.raises(DomainError, match="cannot be written"):
        write_person_file(tmp_path / "no" / "ada.pdf", ADDRESS, AT, kept)


def test_names_of_every_script_and_things_within_things_can_be_set() -> None:
    thing = {
        "name": "محمد 김민준 Zoë 😀",
        "signature": {"type": "drawn", "strokes": [[[0, 0], [1, 1]]]},
        "memberships": [{"role": "owner", "last_seen_at": None}, {"role": "observer"}],
        "mail": {"taken_at": "2026", "acknowledgement": "ok"},
        "cells": ["Ada", "#set text(red)", '"\\'],
        "empty": "",
    }
    text = text_of(person_report("zoë@example.com", AT, [ReportedPlace("signers", "Note.", [thing])]))
    assert "Zoë" in text and "drawn,1stroke" in text and "Memberships1:roleowner" in text
    assert "Mail:takenat2026" in text and "Ada,#settext(red)" in text and "Empty" not in text


def test_nothing_is_said_to_be_nothing() -> None:
    assert "Nothingiskeptunderthisaddressornumber." in text_of(person_report("a@example.com", AT, []))
