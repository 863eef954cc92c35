"""Duplicating a request: a draft with all that its sender gave, ready for review, and the request as it was."""

from typing import Any

import pytest

from paraph.drafts.models import Draft
from paraph.drafts.review import refusals
from paraph.flow.ending import end_early
from paraph.flow.housekeeping.retention import delete_files
from paraph.flow.personal_data.erase import erase_signer
from paraph.flow.sending.drafts import duplicate
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.signature_requests.fields.entry import write
from paraph.signature_requests.models import Field, Placement, SignatureRequest, Signer
from paraph.tenants.admin_log import OPERATOR
from paraph.tenants.models import BrandingProfile
from tests.drafts import stored
from tests.drafts.author import IBAN, PETS, SIGNED_ON, Author, asking

pytestmark = pytest.mark.django_db

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
    """What it is, without who sent it when, and without numbers of rows."""
    ignored = ("id", "created_at", "expires_at", "status", "ended_early_at", "ended_reason", "declined_by_id")
    own = SignatureRequest.objects.values().get(pk=request.pk)
    order = {signer.pk: signer.order for signer in request.signers.all()}
    rows = {row.pk: row.document_id for row in request.request_documents.all()}
    of_signers = ("first_name", "last_name", "email", "phone", "role", "order", "otp_channel", "language")
    return {
        "request": {name: value for name, value in own.items() if name not in ignored},
        "documents": list(rows.values()),
        "signers": list(request.signers.values(*of_signers)),
        "copies": list(request.copies.values("first_name", "last_name", "email")),
        "places": [
            {
                name: value
                for name, value in vars(row).items()
                if name not in ("_state", "id", "signer_id", "request_document_id")
            }
            | {"signer": order[row.signer_id], "document": rows[row.request_document_id]}
            for model in (Placement, Field)
            for row in model.objects.filter(request_document__request=request).order_by("pk")
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
    assert {field["name"]: field.get("value") for field in facts(again)["places"] if "name" in field} == {
        "IBAN": None,
        "Pets": None,
        "Date": None,
        "Rent": "1250.50",
        "Agreed": True,
    }
    assert (again.status, request.pk == again.pk) == ("pending", False)


def test_the_language_is_the_one_that_was_named_and_not_the_one_signed_in(charles: Author) -> None:
    request = sent(charles)
    request.signers.update(locale="sv")
    request.signers.filter(order=1).update(language="pt")
    named = [signer.language for signer in duplicated(charles, request).signers]
    assert named == ["pt", *[""] * (len(named) - 1)]


def test_what_signers_entered_and_drew_stays_where_it_is(charles: Author) -> None:
    request = sent(charles)
    signer = request.signers.get(order=1)
    fields = {field.name: field.pk for field in signer.fields.all()}
    write(signer, {fields["IBAN"]: "GB29 NWBK 6016", fields["Rent"]: "999"})
    signer.status, signer.signed_at = "signed", clock.now()
    signer.save(update_fields=["status", "signed_at", "fields_encrypted"])
    assert Signer.objects.get(pk=signer.pk).fields_encrypted
    said = str(duplicated(charles, request).content)
    assert "GB29" not in said and "999" not in said and "1250.50" in said


def test_what_an_application_noted_or_had_called_back_is_left_out(charles: Author) -> None:
    request = sent(charles)
    noted = {
        "external_id": "lease-4711",
        "callback_url": "https://shop.example/a",
        "redirect_url": "https://shop.example/b",
    }
    SignatureRequest.objects.filter(pk=request.pk).update(metadata={"flat": "3"}, **noted)
    content = duplicated(charles, request).content
    assert {"metadata", *noted} & content.keys() == set()


def test_where_files_were_deleted_nothing_is_made(charles: Author) -> None:
    request = sent(charles)
    end_early(OPERATOR, request.pk, "")
    delete_files(request.pk)
    made = Draft.objects.count()
    with pytest.raises(DomainError, match="Its files were deleted") as refused:
        duplicate(charles.scope, request.pk, charles.member.user)
    assert refused.value.code == "conflict" and Draft.objects.count() == made


def test_where_the_branding_profile_is_gone_it_has_the_default_one(charles: Author) -> None:
    colors = {"background_color": "#ffffff", "text_color": "#000000", "accent_color": "#1f4fd8"}
    profile = BrandingProfile.objects.create(organization=charles.member.organization, name="Sea", **colors)
    request = sent(charles, branding_profile_id=profile.pk)
    assert duplicated(charles, request).content["branding_profile_id"] == profile.pk
    BrandingProfile.objects.update(deleted_at=clock.now())
    draft, loses_branding = duplicate(charles.scope, request.pk, charles.member.user)
    assert loses_branding and "branding_profile_id" not in draft.content
    assert refusals(charles.scope, draft) == []


def test_who_was_erased_is_not_named_again(charles: Author) -> None:
    request = sent(charles)
    end_early(OPERATOR, request.pk, "")
    erase_signer(OPERATOR, request.signers.get(order=1).pk)
    first, second = duplicated(charles, request).signers
    assert (first.email, first.first_name, second.first_name) == ("", "", "Grace")
