"""A test of a client signs, declines or lets time pass by calls: with the order, states and refusals of the page."""

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F

from paraph.api.v1 import sandbox_acts
from paraph.audit_trail.journal import Origin, broken_at
from paraph.audit_trail.models import Entry
from paraph.evidence.models import ProofFile
from paraph.flow.ending import end_early
from paraph.flow.signing.sign import Signature, sign
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.messaging.models import CapturedMessage
from paraph.server.client_address import origin
from paraph.signature_requests.fields.entry import values_of
from paraph.signature_requests.marks import initials_of, signature_of
from paraph.signature_requests.models import SignatureRequest, Signer
from paraph.storage import store
from paraph.tenants.admin_log import OPERATOR
from paraph.webhooks.models import Delivery, Event
from tests.api.v1.api_clients import ApiClient, api_client, error, invalid, keyed, made, payload, rectangle
from tests.api.v1.contract import said
from tests.factories import VISITOR, jobs
from tests.flow.test_jobs import work_off
from tests.pdf.pictures import texts

DRAWN = {"type": "drawn", "strokes": [[[0.1, 0.6], [0.4, 0.3], [0.9, 0.4]]]}


def created(owner: ApiClient, **options: Any) -> dict[str, Any]:
    return made(owner.create(payload(owner.document(), **options)))


def act(client: ApiClient, request: dict[str, Any], number: int = 0, verb: str = "sign", content: Any = None) -> Any:
    path = f"/sandbox/signature_requests/{request['id']}/signers/{request['signers'][number]['id']}/{verb}"
    return client.send("POST", path) if content is None else client.post(path, content)


def expire(client: ApiClient, request: dict[str, Any]) -> Any:
    return client.send("POST", f"/sandbox/signature_requests/{request['id']}/expire")


def test_a_request_is_signed_to_its_end(owner: ApiClient) -> None:
    """Both sign, and the request is sealed; journal and proof name the sandbox act, and no message is sent."""
    mails = {"send_email": True, "identity_declaration_accepted": True}
    request = created(owner, initials_required=True, **mails)
    first = act(owner, request)
    assert first.status_code == 200
    invited = [arguments["signer_id"] for name, arguments in jobs() if name == "invite"]
    assert invited == [each["id"] for each in request["signers"]]
    assert [each["status"] for each in first.json()["signers"]] == ["signed", "pending"]
    assert first.json() == owner.get(f"/signature_requests/{request['id']}").json()
    assert act(owner, request, 1, content={"signature": DRAWN}).json()["status"] == "completed"
    work_off()
    finalized = owner.get(f"/signature_requests/{request['id']}").json()
    assert finalized["finalized"] and len(finalized["download_urls"]) == 1
    signers = list(Signer.objects.order_by("order"))
    assert [signature_of(each)["type"] for each in signers] == ["typed", "drawn"]
    assert [initials_of(each) for each in signers] == [{"type": "typed"}] * 2
    entries = list(Entry.objects.order_by("position"))
    signed = [each for each in entries if each.event_type == "signer.signed"]
    assert [each.metadata["sandbox_act"] for each in signed] == [True, True] and signed[0].ip == "127.0.0.1"
    assert broken_at(entries) is None
    log = owner.get(f"/signature_requests/{request['id']}/audit_logs", limit=100).json()["data"]
    assert [each["metadata"].get("sandbox_act") for each in log if each["event_type"] == "signer.signed"] == [True] * 2
    assert not CapturedMessage.objects.exists()
    proof = "".join(texts(store.get(ProofFile.objects.get().object_key)))
    assert "sandbox act" in proof and "One-time code" not in proof
    events = list(Event.objects.order_by("entry_id").values_list("event_type", flat=True))
    assert events == ["signer.signed", "signer.signed", "request.completed"]
    assert Delivery.objects.count() == 3 and not Delivery.objects.filter(payload__contains="sandbox_act").exists()


def test_refusals_are_those_of_the_page(owner: ApiClient) -> None:
    request = created(owner)
    wrong = {"signature": {"type": "stamped"}}
    not_yet = act(owner, request, 1, content=wrong)  # the turn is checked before the body
    assert error(not_yet, 409, "not_your_turn") == said("sandboxSign", "not_your_turn")
    assert act(owner, request).status_code == 200
    assert error(act(owner, request), 409, "already_signed") == said("sandboxSign", "already_signed")
    SignatureRequest.objects.update(expires_at=clock.now() - timedelta(seconds=1))
    assert error(act(owner, request, 1), 410, "expired") == said("sandboxSign", "expired")
    assert error(act(owner, request), 409, "already_signed")
    assert Entry.objects.filter(event_type="signer.signed").count() == 1


def test_what_is_wrong_is_named_and_nobody_has_signed(owner: ApiClient) -> None:
    cases: list[tuple[Any, str]] = [
        ({"places": []}, "places: there is no such field."),
        ({"signature": {"type": "stamped"}}, "signature.type"),
        ({"signature": {"type": "typed", "hand": 9}}, "signature.hand"),
        ({"signature": {"type": "drawn", "strokes": [[[0.5, 0.5]]]}}, "signature: there is no line"),
        ({"code": "123456", "consent": True}, "code: there is no such field. consent:"),
        ([], "The body must be a JSON object."),
    ]
    for content, named in cases:
        request = created(owner)
        assert named in invalid(act(owner, request, content=content))
        assert not Signer.objects.filter(status="signed").exists()


@pytest.mark.parametrize("verb", ["sign", "decline"])
def test_production_signs_by_hand(owner: ApiClient, verb: str) -> None:
    """The service itself takes no signature without a code either. Production keys with foreign ids: test_tenancy."""
    production = api_client("pro", "production", owner.organization)
    request = created(production)
    assert error(act(production, request, verb=verb), 403, "sandbox_only") == said("sandboxSign", "sandbox_only")
    signer = Signer.objects.select_related("request").get(pk=request["signers"][0]["id"])
    with pytest.raises(DomainError, match="Nobody signs without a code"):
        sign(signer, Signature(None, {"type": "typed"}, None, "en"), VISITOR)
    assert not Signer.objects.filter(status="signed").exists()


def test_a_request_expires_as_by_the_clock(owner: ApiClient) -> None:
    request, before = created(owner), clock.now().replace(microsecond=0)
    answer = expire(owner, request)
    assert answer.status_code == 200 and answer.json()["status"] == "expired"
    assert before <= SignatureRequest.objects.get().expires_at <= clock.now()
    [entry] = Entry.objects.filter(event_type="request.expired")
    assert entry.metadata == {"expires_at": answer.json()["expires_at"], "sandbox_act": True}
    [delivery] = Delivery.objects.all()
    assert delivery.event_type == "request.expired" and "sandbox_act" not in delivery.payload
    assert delivery.entry_id == entry.pk == Event.objects.get().pk
    error(act(owner, request), 410, "expired")


def test_the_body_is_json_or_none(owner: ApiClient) -> None:
    request = created(owner)
    acts = f"/sandbox/signature_requests/{request['id']}"
    sign, end = f"{acts}/signers/{request['signers'][0]['id']}/sign", f"{acts}/expire"
    for path in (sign, end):
        error(owner.send("POST", path, b"x", "text/plain"), 415, "unsupported_media_type")
    invalid(owner.send("POST", sign, b"{"))
    assert owner.send("POST", sign, b'{"signature": null, "fields": null}').status_code == 200
    assert invalid(owner.post(end, {"reason": "x"})) == "reason: there is no such field."
    assert owner.post(end, {}).status_code == 200


def test_what_is_over_does_not_expire(owner: ApiClient) -> None:
    """A request whose time is over, but which no worker has marked yet, does not expire by this call either."""
    expired, late, ended, completed = (created(owner) for _ in range(4))
    expire(owner, expired)
    SignatureRequest.objects.filter(pk=late["id"]).update(expires_at=clock.now())
    end_early(OPERATOR, ended["id"], "Not needed.")
    act(owner, completed), act(owner, completed, 1)
    before = Entry.objects.count()
    for request in (expired, late, ended, completed):
        assert error(expire(owner, request), 409, "conflict") == said("sandboxExpire", "conflict")
    assert Entry.objects.count() == before


def test_a_signer_declines_where_the_request_allows_it(owner: ApiClient) -> None:
    request = created(owner)
    read = owner.get(f"/signature_requests/{request['id']}").json()
    assert "declined_by" not in request and "declined_by" not in read
    SignatureRequest.objects.update(decline_allowed=True)
    error(act(owner, request, 1, verb="decline"), 409, "not_your_turn")
    invalid(act(owner, request, verb="decline", content={"why": "No"}))
    invalid(act(owner, request, verb="decline", content={"reason": " "}))
    answer = act(owner, request, verb="decline", content={"reason": "The rent is wrong."}).json()
    assert (answer["status"], answer["ended_early"]) == ("expired", True)
    assert (answer["ended_reason"], answer["declined_by"]) == ("The rent is wrong.", request["signers"][0]["id"])
    assert answer["signers"][0]["status"] == "pending"
    entry = Entry.objects.get(event_type="request.expired")
    assert entry.metadata["sandbox_act"] and entry.metadata["declined"]
    error(act(owner, request, verb="decline"), 410, "expired")


@pytest.mark.parametrize("verb", ["sign", "decline"])
def test_an_act_that_races_a_correction_is_refused(
    owner: ApiClient, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = created(owner)
    SignatureRequest.objects.update(decline_allowed=True)

    def corrected_meanwhile(call: Any) -> Origin:
        Signer.objects.update(replaced_links=F("replaced_links") + 1)
        return origin(call)

    monkeypatch.setattr(sandbox_acts, "origin", corrected_meanwhile)
    answer = act(owner, request, verb=verb)
    operation = f"sandbox{verb.capitalize()}"
    assert error(answer, 409, "conflict") == said(operation, "conflict_corrected")
    monkeypatch.undo()
    assert act(owner, request, verb=verb).status_code == 200


def test_nobody_declines_where_the_request_does_not_allow_it(owner: ApiClient) -> None:
    request = created(owner)
    told = error(act(owner, request, verb="decline"), 403, "decline_not_allowed")
    assert told == said("sandboxDecline", "decline_not_allowed")
    act(owner, request)
    error(act(owner, request, verb="decline"), 403, "decline_not_allowed")
    invalid(act(keyed(owner, ""), request, verb="decline"))


def test_fields_are_filled_in_and_refused_as_for_signers(owner: ApiClient) -> None:
    document_id = owner.document()
    content = payload(document_id)
    at = {"placement": rectangle(1, 60, 60)}
    asked = [{"name": "IBAN", "type": "text", **at}, {"name": "rent", "type": "number", **at}]
    content["documents"][0]["signers"][0]["fields"] = asked
    request = made(owner.create(content))
    refused = act(owner, request)
    assert invalid(refused) == "fields: still to fill in: IBAN, rent."
    given = [{"document_id": document_id, "name": name, "value": "x"} for name in ("IBAN", "rent", "BIC")]
    french = ApiClient(owner.api_key, owner.organization, owner.headers | {"Accept-Language": "fr"})
    message = invalid(act(french, request, content={"fields": given[:2]}))
    assert message == "fields[1].value: Saisissez un nombre, par exemple 1250,50."
    invalid(act(owner, request, content={"fields": given}))
    assert not Entry.objects.filter(event_type="signer.signed").exists()
    given[1]["value"] = "12,5"
    assert act(owner, request, content={"fields": given[:2]}).status_code == 200
    assert sorted(values_of(Signer.objects.get(order=1)).values()) == ["12.5", "x"]
