"""Drafts by API: prepared by a program, sent or discarded by a person."""

from typing import Any

import pytest
from django.conf import settings

from paraph.drafts.editing import UNUSED_FOR, delete_unused_drafts, discard
from paraph.drafts.models import Draft
from paraph.drafts.review import refusals
from paraph.kernel.errors import DomainError
from paraph.signature_requests.models import SignatureRequest, Signer
from tests.api.v1.api_clients import (
    EVERY_OPTION,
    KIM,
    REPLAYED,
    ApiClient,
    api_client,
    error,
    invalid,
    keyed,
    made,
    payload,
    rectangle,
    tag,
)
from tests.drafts import stored
from tests.drafts.author import Author


@pytest.fixture
def program(charles: Author) -> ApiClient:
    """A production key of the organization that Charles is a member of."""
    return api_client("pro", "production", charles.member.organization)


def create(client: ApiClient, request: Any) -> Any:
    return client.post("/drafts", {"signature_request": request})


def created(client: ApiClient, request: Any) -> Draft:
    return Draft.objects.get(pk=made(create(client, request))["id"])


def status(client: ApiClient, draft: Draft) -> dict[str, Any]:
    answer: dict[str, Any] = client.get(f"/drafts/{draft.pk}").json()
    return {name: answer[name] for name in ("status", "signature_request_id")}


def test_a_whole_draft_is_sent_as_it_was_given(charles: Author, program: ApiClient) -> None:
    document = program.document()
    of_programs = {name: EVERY_OPTION[name] for name in ("external_id", "metadata", "redirect_url", "reminders")}
    wanted = payload(document, **of_programs, callback_url="https://example.com/hook")
    wanted["notify_signers_on_completion"] = True
    wanted["signers"][0]["language"], program.headers["Accept-Language"] = "pt", "fr"
    response = create(program, wanted)
    assert response.status_code == 201 and set(response.json()) == {"id", "review_url"}
    draft = Draft.objects.get()
    address = f"{settings.PARAPH.public_url}/app/{charles.scope.organization_id}/drafts/{draft.pk}/review"
    assert response.json() == {"id": draft.pk, "review_url": address}
    answer = program.get(f"/drafts/{draft.pk}").json()
    opened = {"status": "open", "signature_request_id": None, "created_at": answer["created_at"]}
    assert answer == {**response.json(), **opened}
    assert not SignatureRequest.objects.exists() and refusals(charles.scope, draft) == []
    assert len(stored.stamps()) == 2 and draft.locale == "fr"
    assert [signer.language for signer in draft.signers] == ["pt", ""]
    sent = charles.send(draft)
    assert discard(Draft.objects.filter(pk=draft.pk)) == 0, "what is sent cannot be discarded"
    assert status(program, draft) == {"status": "sent", "signature_request_id": sent}
    assert list(Signer.objects.order_by("order").values_list("language", "locale")) == [("pt", "pt"), ("", "")]
    request = SignatureRequest.objects.get(pk=sent)
    assert (request.mode, request.validity_days, request.callback_url) == ("sequential", 7, "https://example.com/hook")
    assert request.send_email and request.notify_signers_on_completion and request.sent_by == charles.member.user
    shown = program.get(f"/signature_requests/{sent}").json()
    assert shown.items() >= {**of_programs, "document_ids": [document]}.items()
    assert not stored.signers()


def test_everything_may_be_missing(charles: Author, program: ApiClient) -> None:
    known_to_be_nothing: list[dict[str, Any]] = [{}, {"signers": None, "mode": None}, {"signers": [], "documents": []}]
    for nothing in known_to_be_nothing:
        draft = created(program, nothing)
        lacking = {each.sentence for each in refusals(charles.scope, draft)}
        assert lacking == {"Add a document first.", "Add a signer first."}
    assert (draft.content["mode"], draft.content["validity_days"]) == ("parallel", 30)
    assert (draft.locale, draft.step) == ("en", "review")
    with pytest.raises(DomainError):
        charles.send(draft)


@pytest.fixture
def sms_gateway(settings: Any) -> None:
    settings.PARAPH = settings.PARAPH.model_copy(update={"sms_url": "apprise+json://127.0.0.1/{to}"})


@pytest.mark.usefixtures("sms_gateway")
def test_what_is_there_is_kept(program: ApiClient) -> None:
    document, bare, other = program.document(), program.document(), program.document()
    people = [
        {"ref": "grace", "first_name": "Grace", "order": 2, "otp_channel": "sms"},
        {"ref": "ada", "email": "ada@example.com", "order": 1, "last_name": None},
        {},
    ]
    documents = [
        {"id": document, "signers": [{"signer_ref": "grace", "stamps": [rectangle(), tag("{{grace}}")]}]},
        {"id": bare},
        {"id": other, "signers": [{"signer_ref": "ada"}, {"signer_ref": "grace", "stamps": []}]},
    ]
    draft = created(program, {"mode": "sequential", "signers": people, "documents": documents})
    kept = [(each.first_name, each.last_name, each.email, each.phone, each.otp_channel) for each in draft.signers]
    assert kept == [("", "", "ada@example.com", "", "email"), ("Grace", "", "", "", "sms"), ("", "", "", "", "email")]
    assert [row.document_id for row in draft.documents.all()] == [document, bare, other]
    assert [(each.signer.first_name, each.page_number) for each in stored.stamps()] == [("Grace", 1), ("Grace", 2)]


@pytest.mark.usefixtures("sms_gateway")
def test_what_is_missing_is_told_in_words(charles: Author, program: ApiClient) -> None:
    people = [
        {"ref": "a", "first_name": "Grace", "otp_channel": "sms"},
        {"ref": "b", "first_name": "Ada", "last_name": "Lovelace", "email": "ada@example.com"},
    ]
    draft = created(program, {"signers": people, "documents": [{"id": program.document()}]})
    assert [(each.step, each.sentence) for each in refusals(charles.scope, draft)] == [
        ("signers", "Grace still lacks: Last name, E-mail, Phone."),
        ("places", "Grace has no place to sign yet."),
        ("places", "Ada Lovelace has no place to sign yet."),
        ("places", "contract.pdf has no place to sign yet."),
    ]


def on_one(**assigned: Any) -> dict[str, Any]:
    return {"documents": [{"id": 1, "signers": [assigned]}]}


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"mode": "sequence"}, "mode: it must be one of sequential, parallel."),
    ({"callback_url": "http://x"}, "callback_url: "),
    ({"redirect_url": "http://localhost/done"}, "redirect_url: it must be an https address in production."),
    ({"signers": {}}, "signers: it must be an array."),
    ({"signers": [{"email": "x"}]}, "signers[0].email: "),
    ({"signers": [{"first_name": ""}]}, "signers[0].first_name: it must not be empty."),
    ({"signers": [{"first_name": {}}]}, "signers[0].first_name: it must be a string."),
    ({"signers": [{"ref": "a"}, {"ref": "a"}]}, "signers[1].ref: “a” is the ref of another signer too."),
    ({"signers": [{"role": "approver"}]}, "signers: at least one of them must sign, not only approve."),
    ({"signers": [{}] * 26}, "signers: your plan allows at most 25 entries per request, not 26."),
    ({"mode": "sequential", "signers": [{}] * 100_000}, "not 100000"),
    ({"mode": "sequential", "signers": [{"order": 1}, {"order": 1}]}, "signers[1].order: 1 is the order of another"),
    ({"mode": "sequential", "signers": [{"order": 0}]}, "signers[0].order: it must be from 1 to"),
    ({"documents": {}}, "documents: it must be an array."),
    ({"documents": [{}]}, "documents[0].id: it is required."),
    ({"documents": [{"id": "x"}]}, "documents[0].id: it must be an integer."),
    ({"documents": [{"id": 1, "signers": {}}]}, "documents[0].signers: it must be an array."),
    ({"documents": [{"id": 1, "fields": []}]}, "documents[0].fields: there is no such field here."),
    (on_one(signer_ref="x", stamps=[rectangle()]),
     "documents[0].signers[0].signer_ref: “x” on document 1 is the ref of no signer of the request."),
    (on_one(stamps=[rectangle()]), "documents[0].signers[0].signer_ref: it is required."),
    (on_one(signer_ref="x", stamps=[{"type": "coordinates"}]),
     "documents[0].signers[0].stamps[0].value: it is required."),
    ({"branding_profile_id": 2**40}, "branding_profile_id: 1099511627776 is not a branding profile"),
]  # fmt: skip


def test_what_is_there_must_be_right(program: ApiClient) -> None:
    for changes, sentence in WRONG:
        assert sentence in invalid(create(program, changes))
    assert not Draft.objects.exists()


def test_every_problem_is_named(program: ApiClient) -> None:
    wanted = payload(program.document(), validity_days=91, colour="red")
    assigned = wanted["documents"][0]["signers"][0]
    assigned["stamps"] = [tag("lost")]
    assigned["fields"] = [{"name": "IBAN", "type": "choice", "placement": rectangle(9, 50, 600)}]
    wanted["signers"][1] = {"ref": "grace", "phone": "x"}
    message = invalid(create(program, wanted))
    for sentence in (
        "validity_days: ",
        "colour: ",
        "signers[1].phone: ",
        "stamps[0]: the tag “lost” of signer “ada”",
        "documents[0].signers[0].fields[0].options: it is required, as type is choice.",
        "documents[0].signers[0].fields[0].placement: page 9 of signer “ada” does not exist",
    ):
        assert sentence in message
    assert "first_name" not in message
    assert invalid(create(program, "x")) == "signature_request: it must be an object."


def test_a_program_that_hands_out_the_links_itself(charles: Author, program: ApiClient) -> None:
    draft = created(program, payload(program.document(), send_email=False))
    assert draft.content["send_email"] is False
    assert not SignatureRequest.objects.get(pk=charles.send(draft)).send_email
    # Whoever sends declares that the signers are identified.
    draft = created(program, payload(program.document(), send_email=True, identity_declaration_accepted=False))
    assert SignatureRequest.objects.get(pk=charles.send(draft)).send_email


def test_what_became_of_it_is_known_when_drafts_are_forgotten(charles: Author, program: ApiClient) -> None:
    unused, sent = (created(program, payload(program.document())) for _ in range(2))
    of_a_member = charles.draft()
    request = charles.send(sent)
    Draft.objects.update(updated_at=unused.updated_at - UNUSED_FOR)
    assert delete_unused_drafts() == 2
    assert not Draft.objects.filter(pk=of_a_member.pk).exists()
    assert status(program, unused)["status"] == "discarded"
    assert status(program, sent) == {"status": "sent", "signature_request_id": request}
    assert delete_unused_drafts() == 0


def test_sandbox_keys_prepare_nothing(charles: Author, program: ApiClient) -> None:
    draft = created(program, {})
    sandbox = api_client("pro", "sandbox", charles.member.organization)
    message = "Drafts are sent from the dashboard, in production. Use a production key."
    assert error(create(sandbox, payload(1)), 403, "production_only") == message
    error(sandbox.get(f"/drafts/{draft.pk}"), 403, "production_only")
    assert Draft.objects.count() == 1


def test_drafts_of_others_and_of_members_are_unknown(charles: Author, program: ApiClient) -> None:
    draft = created(program, {})
    other, document = api_client("pro", "production"), program.document()
    error(other.get(f"/drafts/{draft.pk}"), 404, "not_found")
    error(program.get(f"/drafts/{charles.draft().pk}"), 404, "not_found")
    error(program.get(f"/drafts/{10**30}"), 404, "not_found")
    colleague = api_client("pro", "production", charles.member.organization)
    assert status(colleague, draft)["status"] == "open"
    assert f"there is no document {document} in" in invalid(create(other, {"documents": [{"id": document}]}))


def test_a_key_finds_what_became_of_its_draft(program: ApiClient) -> None:
    calls = keyed(program, "one")
    first, again = create(calls, {"validity_days": 7}), create(calls, {"validity_days": 7})
    assert first.json() == again.json() and again[REPLAYED] == "true" and Draft.objects.count() == 1
    error(create(calls, {"validity_days": 8}), 422, "idempotency_key_reused")
    discard(Draft.objects.all())
    assert create(calls, {"validity_days": 7}).json() == first.json()


def test_fields_approvers_and_copies_come_into_the_draft(charles: Author, program: ApiClient) -> None:
    field = {"name": "IBAN", "type": "text", "value": "DE02", "placement": tag("{{grace}}")}
    people = [
        {"ref": "a", "first_name": "Ada", "last_name": "Lovelace", "email": "ada@example.com"},
        {"ref": "b", "first_name": "Grace", "last_name": "Hopper", "email": "g@example.com", "role": "approver"},
    ]
    assigned = [{"signer_ref": "a", "fields": [field]}, {"signer_ref": "b"}]  # where Ada signs is not known yet
    documents = [{"id": program.document(), "signers": assigned}]
    draft = created(program, {"signers": people, "documents": documents, "copies": [KIM], "decline_allowed": True})
    assert [signer.role for signer in draft.signers] == ["signer", "approver"]
    [row] = stored.fields(draft)
    assert (row.signer.first_name, row.page_number, row.width, row.height) == ("Ada", 1, 160, 18)
    assert row.field == {"name": "IBAN", "type": "text", "value": "DE02"}
    assert draft.content["copies"] == [KIM] and draft.content["decline_allowed"] is True
    assert {refusal.step for refusal in refusals(charles.scope, draft)} == {"places"}
