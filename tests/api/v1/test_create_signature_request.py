"""POST /signature_requests (rule 4.5): what it makes. What it refuses: test_create_refusals."""

from copy import copy
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from paraph.audit_trail.models import Entry
from paraph.signature_requests.links import signer_of
from paraph.signature_requests.models import Placement, RequestDocument, SignatureRequest, Signer
from tests.api.v1.api_clients import (
    EVERY_OPTION,
    SHOWN_OPTIONS,
    ApiClient,
    api_client,
    branding_profile,
    made,
    payload,
    rectangle,
    tag,
)
from tests.factories import jobs


def test_the_answer_is_the_request(owner: ApiClient, document: int, content: dict[str, Any]) -> None:
    answer = made(owner.create(content))
    row = SignatureRequest.objects.get()
    urls = [signer.pop("signing_url") for signer in answer["signers"]]
    assert answer == {
        "id": row.pk,
        "mode": "sequential",
        "status": "pending",
        "validity_days": 7,
        "initials_required": False,
        "notify_signers_on_completion": False,
        "expires_at": (row.created_at + timedelta(days=7)).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "created_at": row.created_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "document_ids": [document],
        "signers": [
            {
                "id": signer.pk,
                "full_name": f"{given['first_name']} {given['last_name']}",
                "status": "pending",
                "signed_at": None,
                "delivery": None,
            }
            | {name: given[name] for name in ("first_name", "last_name", "email", "order")}
            for signer, given in zip(row.signers.all(), content["signers"], strict=True)
        ],
        "branding_profile": None,
        "external_id": None,
        "metadata": {},
        "redirect_url": None,
        "reminders": None,
        "ended_early": False,
        "ended_reason": None,
    }
    assert [signer_of(url.removeprefix("http://127.0.0.1:8000/sign/")) for url in urls] == [*row.signers.all()]


def test_everything_said_is_kept(owner: ApiClient, document: int) -> None:
    profile = branding_profile(owner).pk
    content = payload(document, **EVERY_OPTION | {"branding_profile_id": profile})
    content["signers"][0] |= {"phone": "+33612345678", "otp_channel": "sms"}
    content["signers"][1] |= {"phone": "+33612345679", "otp_channel": "email"}
    answer = made(owner.create(content))
    [listed] = owner.get("/signature_requests").json()["data"]
    for each in (answer, listed, owner.get(f"/signature_requests/{answer['id']}").json()):
        assert {name: each[name] for name in SHOWN_OPTIONS} == {name: EVERY_OPTION[name] for name in SHOWN_OPTIONS}
        assert each["branding_profile"] == owner.get("/branding_profiles").json()["data"][0]
    row = SignatureRequest.objects.get()
    assert row.callback_url == "https://example.com/hook?x=1"
    assert row.expires_at - row.created_at == timedelta(days=90)
    reached = list(Signer.objects.values_list("phone", "otp_channel"))
    assert reached == [("+33612345678", "sms"), ("+33612345679", "email")]


def test_own_data_may_be_empty_and_have_a_longest(owner: ApiClient, document: int) -> None:
    longest = {f"{number:0>40}": "x" * 500 for number in range(50)}
    cases: list[tuple[dict[str, Any], Any, dict[str, str]]] = [
        ({"validity_days": 7.0}, None, {}),  # a whole number may be written with a point
        ({"external_id": None, "metadata": None}, None, {}),
        ({"metadata": {}}, None, {}),
        ({"external_id": "e" * 200, "metadata": longest}, "e" * 200, longest),
    ]
    for given, external_id, metadata in cases:
        answer = made(owner.create(payload(document, **given)))
        assert (answer["external_id"], answer["metadata"], answer["validity_days"]) == (external_id, metadata, 7)
    locally = "http://localhost:3000/done"
    assert made(owner.create(payload(document, redirect_url=locally)))["redirect_url"] == locally


def test_a_signer_may_have_a_language(owner: ApiClient, content: dict[str, Any]) -> None:
    content["signers"][0]["language"], content["signers"][1]["language"] = "pt", None
    owner.headers["Accept-Language"] = "de"
    answer = made(owner.create(content))
    assert [signer.get("language", "none") for signer in answer["signers"]] == ["pt", "none"]
    kept = list(Signer.objects.values_list("language", "locale", "request__locale"))
    assert kept == [("pt", "pt", "de"), ("", "", "de")]
    del owner.headers["Accept-Language"]
    Signer.objects.update(locale="sv")  # the language that they signed in is not shown
    read = owner.get(f"/signature_requests/{answer['id']}").json()
    assert read["signers"] == answer["signers"] == owner.get("/signature_requests").json()["data"][0]["signers"]


def test_refs_are_neither_kept_nor_returned(owner: ApiClient, content: dict[str, Any]) -> None:
    content["signers"][0]["ref"] = content["documents"][0]["signers"][0]["signer_ref"] = "ref-of-ada"
    assert "ref-of-ada" not in str(made(owner.create(content)))
    for table in (SignatureRequest, Signer, RequestDocument, Placement, Entry):
        rows: list[Any] = list(table.objects.values())
        assert rows and "ref-of-ada" not in str(rows)


@pytest.mark.parametrize("plan", ["pro", "enterprise"])
def test_what_paid_plans_include(db: None, plan: str) -> None:
    """They include a branding profile in both environments, initials and codes by SMS."""
    owner = api_client(plan)
    live, profile = api_client(plan, "production", owner.organization), branding_profile(owner)
    content = payload(owner.document(), initials_required=True, branding_profile_id=profile.pk, validity_days=1)
    content["signers"][0] |= {"phone": "+33612345678", "otp_channel": "sms"}
    answer = made(owner.create(content))
    assert (answer["initials_required"], answer["validity_days"]) == (True, 1)
    in_production = made(live.create(payload(live.document(), branding_profile_id=profile.pk)))
    assert answer["branding_profile"]["id"] == in_production["branding_profile"]["id"] == profile.pk


@pytest.mark.parametrize(("plan", "environment"), [("free", "sandbox"), ("pro", "production")])
def test_no_quota_ends_creations(db: None, plan: str, environment: str) -> None:
    """A creation succeeds however many requests were made this month."""
    scope = api_client(plan, environment)
    made(scope.create(payload(scope.document())))
    row = SignatureRequest.objects.get()
    row.pk = None
    SignatureRequest.objects.bulk_create(copy(row) for _ in range(3000))
    made(scope.create(payload(scope.document())))


def test_a_tag_is_resolved_to_the_place_under_it(owner: ApiClient, document: int) -> None:
    made(owner.create(payload(document)))
    ada, grace = Placement.objects.order_by("signer__order")
    assert (ada.page_number, ada.width, ada.height) == (1, 200, 80)
    assert ada.y + ada.height == pytest.approx(396, abs=5)  # the tag's baseline is at 400
    assert ada.x + ada.width / 2 == pytest.approx(115, abs=8)  # the middle of the tag
    assert (grace.page_number, grace.x, grace.y, grace.width, grace.height) == (2, 100, 100, 200, 80)


def test_a_stamp_may_touch_the_edges(owner: ApiClient, content: dict[str, Any]) -> None:
    content["documents"][0]["signers"][1]["stamps"] = [
        rectangle(1, 0, 0),
        rectangle(1, 395, 762),
        rectangle(3, 195.0, 682.0, width=400, height=160),
        rectangle(3, 0.5, 0.25, width=80, height=30),
    ]
    made(owner.create(content))
    assert Placement.objects.filter(signer__first_name="Grace").count() == 4


def test_a_signer_may_be_absent_from_a_document(owner: ApiClient, document: int) -> None:
    second = owner.document()
    content = payload(document)
    content["documents"].insert(0, {"id": second, "signers": [{"signer_ref": "grace", "stamps": [tag("{{last}}")]}]})
    content["documents"][1]["signers"].pop()
    assert made(owner.create(content))["document_ids"] == [second, document]


def test_signers_of_a_sequence_come_in_their_order(owner: ApiClient, content: dict[str, Any]) -> None:
    content["signers"][0]["order"], content["signers"][1]["order"] = 20, 10
    answer = made(owner.create(content))
    assert [(signer["first_name"], signer["order"]) for signer in answer["signers"]] == [("Grace", 10), ("Ada", 20)]
    assert owner.get(f"/signature_requests/{answer['id']}").json()["signers"] == answer["signers"]


def test_order_is_ignored_in_parallel_mode(owner: ApiClient, document: int) -> None:
    cases: list[Any] = [1, "first", None, -3, {}]
    for order in cases:
        content = payload(document, mode="parallel")
        for signer in content["signers"]:
            signer["order"] = order
        assert [signer["order"] for signer in made(owner.create(content))["signers"]] == [1, 2]


def test_names_in_any_script_are_kept(owner: ApiClient, content: dict[str, Any]) -> None:
    content["signers"][0] |= {"first_name": "さくら", "last_name": "O’Connor-Žižek 👩‍🎨"}
    assert made(owner.create(content))["signers"][0]["full_name"] == "さくら O’Connor-Žižek 👩‍🎨"


def test_the_journal_says_who_from_where_and_what_was_declared(owner: ApiClient, document: int) -> None:
    """Nobody is invited unless the call asks for it."""
    owner.headers["User-Agent"] = "shop/1.0"
    made(owner.create(payload(document, identity_declaration_accepted=True)))
    first, second = Entry.objects.order_by("position")
    assert (first.event_type, first.signer_id) == ("signature_request.created", None)
    assert (first.ip, first.user_agent) == ("127.0.0.1", "shop/1.0")
    assert second.event_type == "signature_request.identity_declared"
    made(owner.create(payload(document)))
    assert Entry.objects.count() == 3 and jobs() == []


@pytest.mark.parametrize(("mode", "invited"), [("sequential", ["Grace"]), ("parallel", ["Ada", "Grace"])])
def test_invitations(owner: ApiClient, document: int, mode: str, invited: list[str]) -> None:
    content = payload(document, mode=mode, send_email=True, identity_declaration_accepted=True)
    content["signers"][0]["order"], content["signers"][1]["order"] = 2, 1
    answer = made(owner.create(content))
    assert [signer["status"] for signer in answer["signers"]] == ["pending", "pending"]
    by_id = {signer["id"]: signer["first_name"] for signer in answer["signers"]}
    assert [(name, by_id[arguments["signer_id"]]) for name, arguments in jobs()] == [
        ("invite", name) for name in invited
    ]


ACCEPTED: list[tuple[str | None, str, bool]] = [
    ("fr-CH, fr;q=0.9", "fr", True),
    ("ja, uk;q=0.5", "uk", True),  # a language of signers that the API itself does not speak
    ("en-GB", "en", True),
    ("ja", "en", False),
    ("*", "en", False),
    (None, "en", False),
]


def test_the_language_that_the_call_names_is_that_of_the_request(owner: ApiClient, document: int) -> None:
    """The same creation again makes another request."""
    for accepted, locale, chosen in ACCEPTED:
        owner.headers = {"Accept-Language": accepted} if accepted else {}
        request = SignatureRequest.objects.get(pk=made(owner.create(payload(document)))["id"])
        assert (accepted, request.locale, request.locale_chosen) == (accepted, locale, chosen)
    assert SignatureRequest.objects.count() == len(ACCEPTED)


def test_what_the_plan_free_includes(db: None) -> None:
    """As many signers and documents as it allows, codes by mail and the default colours."""
    free = api_client("free")
    content = payload(0, initials_required=False, branding_profile_id=None)
    ada = content["signers"][0] | {"otp_channel": "email"}
    content["signers"] = [ada | {"ref": f"s{order}", "order": order} for order in range(1, 6)]
    assigned = [{"signer_ref": signer["ref"], "stamps": [rectangle()]} for signer in content["signers"]]
    content["documents"] = [{"id": free.document(), "signers": assigned} for _ in range(3)]
    answer = made(free.create(content))
    assert len(answer["signers"]) == 5 and answer["branding_profile"] is None


def test_the_number_of_queries_is_fixed(owner: ApiClient, document: int) -> None:
    counts = []
    made(owner.create(payload(document)))  # from now on this process knows the installation's keys
    for stamps in ([rectangle()], [rectangle(number % 3 + 1, number, number) for number in range(10)]):
        content = payload(document)
        content["documents"][0]["signers"][1]["stamps"] = stamps
        with CaptureQueriesContext(connection) as queries:
            made(owner.create(content))
        counts.append(len(queries))
    # The caller, the documents, how many requests the sandbox has, what it stores and what is to be sealed, a savepoint
    # and its release (the test's own transaction is around), the ids, all rows, and the answer.
    assert counts == [10, 10]
