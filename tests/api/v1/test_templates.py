"""Templates by API: kept, listed, read, deleted, and sent as a creation would be."""

from copy import deepcopy
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from paraph.api.v1.openapi import ANSWERS, BODIES
from paraph.documents.models import Document
from paraph.drafts.review import refusals as lacks
from paraph.flow.sending.templates import send_rows, start_bulk_send
from paraph.request_templates.models import BulkStatus, Template
from paraph.request_templates.saving import begin_from
from paraph.signature_requests.input import OPTIONS
from paraph.signature_requests.models import Field, Placement, SignatureRequest, Signer
from paraph.tenants.models import Activity
from tests.api.v1.api_clients import (
    EVERY_OPTION,
    KIM,
    REPLAYED,
    SHOWN_OPTIONS,
    ApiClient,
    api_client,
    branding_profile,
    error,
    invalid,
    keyed,
    made,
    payload,
    rectangle,
    tag,
)
from tests.api.v1.contract import refusals
from tests.contract import contract
from tests.drafts.author import Author
from tests.request_templates.kept import bulk_of, sending, template_of

PLACE = rectangle(1, 50, 600)
IBAN = {"name": "IBAN", "type": "text", "max_length": 34, "placement": PLACE}
RENT = {"name": "rent", "type": "number", "value": "900", "read_only": True, "placement": tag("{{grace}}")}


def wanted(document_id: int, **changes: Any) -> dict[str, Any]:
    """Return a template of two roles on one document, one with a stamp by tag and one by coordinates."""
    placed = [
        {"role": "Tenant", "stamps": [tag("{{ada}}"), tag("nowhere", optional=True)]},
        {"role": "Landlord", "stamps": [rectangle()]},
    ]
    return {
        "name": "Lease",
        "mode": "sequential",
        "validity_days": 7,
        "roles": [{"name": "Tenant"}, {"name": "Landlord", "otp_channel": "email"}],
        "documents": [{"id": document_id, "roles": placed}],
    } | changes


def people(*roles: str) -> list[dict[str, Any]]:
    named = [("Ada", "Lovelace"), ("Grace", "Hopper"), ("Alan", "Turing")]
    return [
        {"role": role, "first_name": first, "last_name": last, "email": f"{first.lower()}@example.com"}
        for role, (first, last) in zip(roles, named, strict=False)
    ]


def create(client: ApiClient, template: Any) -> Any:
    return client.post("/templates", {"template": template})


def created(client: ApiClient, **changes: Any) -> dict[str, Any]:
    return made(create(client, wanted(client.document(), **changes)))


def send(client: ApiClient, template_id: int, **request: Any) -> Any:
    return client.post(f"/templates/{template_id}/signature_requests", {"signature_request": request})


def test_a_template_is_kept_as_it_was_given(owner: ApiClient) -> None:
    document = owner.document()
    answer = create(owner, wanted(document, notify_signers_on_completion=True, branding_profile_id=None)).json()
    expected: dict[str, Any] = dict.fromkeys(("callback_url", "branding_profile_id", "external_id", "metadata"), None)
    expected |= dict.fromkeys(("redirect_url", "reminders"), None)
    expected |= dict.fromkeys(("send_email", "identity_declaration_accepted", "initials_required"), False)
    expected |= {name: wanted(document)[name] for name in ("name", "mode", "validity_days", "documents")}
    expected["notify_signers_on_completion"] = True
    expected["roles"] = [{"name": "Tenant", "otp_channel": None}, {"name": "Landlord", "otp_channel": "email"}]
    assert answer == expected | {name: answer[name] for name in ("id", "created_at")}
    assert owner.get(f"/templates/{answer['id']}").json() == answer
    assert owner.get("/templates").json()["data"] == [answer]


def test_every_option_is_kept(owner: ApiClient) -> None:
    options = EVERY_OPTION | {"branding_profile_id": branding_profile(owner).pk}
    assert set(options) == set(OPTIONS)  # no option is left out
    answer = created(owner, **options)
    assert {name: answer[name] for name in options} == options
    sent = made(send(owner, answer["id"], signers=people("Landlord", "Tenant")))
    row = SignatureRequest.objects.get()
    assert (row.callback_url, row.send_email) == (options["callback_url"], True)
    assert row.branding_profile_id == options["branding_profile_id"]
    assert {name: sent[name] for name in SHOWN_OPTIONS} == {name: options[name] for name in SHOWN_OPTIONS}
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM procrastinate_jobs WHERE task_name LIKE '%invite%'")
        assert cursor.fetchone() == (2,)


def test_a_request_from_it_is_as_from_a_creation(owner: ApiClient) -> None:
    document = owner.document()
    template = create(owner, wanted(document)).json()["id"]
    sent = made(send(owner, template, signers=people("Landlord", "Tenant")))
    # In sequential mode the roles say who is first.
    assert [(each["first_name"], each["order"]) for each in sent["signers"]] == [("Grace", 1), ("Ada", 2)]
    assert sent["document_ids"] == [document]
    twin = owner.create(payload(document)).json()
    assert set(sent) == set(twin) and stamps_of(sent["id"]) == stamps_of(twin["id"])
    assert list(Signer.objects.filter(request=sent["id"], order=2).values_list("otp_channel")) == [("email",)]
    assert owner.get(f"/signature_requests/{sent['id']}").json()["status"] == "pending"


def test_a_role_with_a_person_of_its_own_may_be_left_out(owner: ApiClient) -> None:
    template = Template.objects.get(pk=create(owner, wanted(owner.document())).json()["id"])
    marta = {"first_name": "Marta", "last_name": "Brückner", "email": "marta@example.com", "phone": "+4915123452345"}
    template.content["signers"][1] |= marta
    template.save()
    assert "marta" not in repr(owner.get(f"/templates/{template.pk}").json()).lower()

    def signing(*signers: dict[str, Any]) -> dict[int, tuple[str, str]]:
        sent = made(send(owner, template.pk, signers=list(signers)))
        rows = Signer.objects.filter(request=sent["id"])
        return {row.order: (row.email, row.phone) for row in rows}

    [tenant, landlord] = people("Tenant", "Landlord")
    fixed = (marta["email"], marta["phone"])
    assert signing(tenant)[2] == signing(tenant, {"role": "Landlord"})[2] == fixed
    assert signing(tenant, landlord)[2] == ("grace@example.com", ""), "nothing of the other person goes along"
    assert "nobody signs as" in invalid(send(owner, template.pk, signers=[landlord]))


def stamps_of(request_id: int) -> list[tuple[Any, ...]]:
    """Return the stamps of the request, in the order of signing."""
    found = Placement.objects.filter(request_document__request=request_id).order_by("signer__order")
    return list(found.values_list("signer__order", "page_number", "x", "y", "width", "height"))


def test_what_the_call_says_goes_before_the_template(owner: ApiClient) -> None:
    template = created(owner, send_email=True)["id"]
    message = error(send(owner, template, signers=people("Tenant", "Landlord")), 422, "identity_declaration_required")
    assert message.startswith("identity_declaration_accepted: ")
    answer = send(
        owner, template, signers=people("Tenant", "Landlord"), validity_days=30, mode="parallel", send_email=False
    ).json()
    assert (answer["validity_days"], answer["mode"]) == (30, "parallel")
    assert owner.get(f"/templates/{template}").json()["validity_days"] == 7
    Template.objects.update(subject="Your lease", message="Dear tenant")  # a member wrote it for signers
    answer = send(owner, template, signers=people("Tenant", "Landlord"), send_email=False).json()
    request = SignatureRequest.objects.get(pk=answer["id"])
    assert (request.subject, request.message) == ("Your lease", "Dear tenant")
    assert "Dear tenant" not in str(answer)


def test_the_language_is_that_of_the_call_else_of_the_template(owner: ApiClient) -> None:
    plain = created(owner)["id"]
    owner.headers["Accept-Language"] = "fr"
    french = created(owner)["id"]
    owner.headers["Accept-Language"] = "de"
    for template in (plain, french):
        send(owner, template, signers=people("Tenant", "Landlord"))
    del owner.headers["Accept-Language"]
    for template in (plain, french):
        send(owner, template, signers=people("Tenant", "Landlord"))
    found = list(SignatureRequest.objects.order_by("pk").values_list("locale", "locale_chosen"))
    assert found == [("de", True), ("de", True), ("en", False), ("fr", True)]


def test_a_role_has_a_language_unless_whoever_signs_has_another(owner: ApiClient) -> None:
    roles = [{"name": "Tenant", "language": "pt"}, {"name": "Landlord"}]
    template = created(owner, roles=roles)
    assert template["roles"] == [{**role, "otp_channel": None} for role in roles]
    [tenant, landlord] = people("Tenant", "Landlord")
    for of_tenant, of_landlord in ((None, None), ("fr", "sv")):
        signers = [{**tenant, "language": of_tenant}, {**landlord, "language": of_landlord}]
        made(send(owner, template["id"], signers=signers))
    assert list(Signer.objects.order_by("pk").values_list("language", flat=True)) == ["pt", "", "fr", "sv"]
    wrong = [{**tenant, "language": "xx"}, landlord]
    assert "signers[0].language: it must be one of en, ar, " in invalid(send(owner, template["id"], signers=wrong))


def test_every_problem_is_named_with_its_path(owner: ApiClient) -> None:
    document = owner.document()
    wrong = {
        "mode": "sequence",
        "validity_days": 365,
        "colour": "red",
        "roles": [{"name": "Tenant"}, {"name": "tenant "}, {"name": "!", "kind": "approver"}, {"name": "x" * 101}],
        "documents": [
            {"id": document + 1, "fields": []},
            {
                "id": document,
                "roles": [
                    {"role": "Tenant", "stamps": [tag("lost"), rectangle(x=9000), {"type": "seal"}]},
                    {"role": "Tenant", "stamps": [], "colour": []},
                ],
            },
        ],
    }
    message = invalid(create(owner, wrong))
    for sentence in (
        "mode: it must be one of sequential, parallel.",
        "validity_days: it must be from 1 to 90, not 365.",
        "colour: there is no such field here.",
        "name: it is required.",
        "roles[0].name: “Tenant” is the name of another role too.",
        "roles[1].name: “tenant ” is the name of another role too.",
        "roles[2].name: it must contain a letter or a number.",
        "roles[2].kind: there is no such field here.",
        "roles[3].name: it must have at most 100 characters.",
        "documents[0].fields: there is no such field here.",
        f"documents[0].id: there is no document {document + 1} in this environment.",
        "documents[0].roles: it is required.",
        f"documents[1].roles[0].stamps[0]: the tag “lost” of signer “Tenant” is not in document {document}.",
        "documents[1].roles[0].stamps[1]: the stamp of signer “Tenant” at x=9000",
        "documents[1].roles[0].stamps[2].type: it must be one of magic_field, coordinates.",
        f"documents[1].roles[1].stamps: signer “Tenant” must have from 1 to 10 stamps on document {document}, not 0.",
        "documents[1].roles[1].colour: there is no such field here.",
    ):
        assert sentence in message
    assert "signers" not in message and "signer_ref" not in message


def listed(role: str) -> dict[str, Any]:
    return {"role": role, "stamps": [rectangle()]}


BAD: list[tuple[dict[str, Any], str]] = [
    ({"roles": []}, "roles: it must have at least one entry."),
    ({"roles": [3]}, "roles[0]: it must be an object."),
    ({"roles": [{}]}, "roles[0].name: it is required."),
    ({"roles": [{"name": 5}]}, "roles[0].name: it must be a string."),
    ({"roles": [{"name": "Tenant", "otp_channel": "fax"}]}, "roles[0].otp_channel: it must be one of email, sms."),
    ({"roles": [{"name": "Tenant", "language": "xx"}]}, "roles[0].language: it must be one of en, ar, "),
    ({"documents": []}, "documents: it must have at least one entry."),
    ({"documents": [[]]}, "documents[0]: it must be an object."),
    ({"name": " "}, "name: it must not be empty."),
    ({"name": "x" * 201}, "name: it must have at most 200 characters."),
    ({"signers": []}, "signers: there is no such field here."),
    ({"branding_profile_id": 2**40}, "branding_profile_id: 1099511627776 is not a branding profile"),
]
OF_ROLES: list[tuple[list[dict[str, Any]], str]] = [
    ([listed("Tennant")], "documents[0].roles[0].role: the template has no role “Tennant”."),
    ([listed("Landlord")] * 2, "documents[0].roles[1].role: role “Landlord” is listed twice on this document"),
    ([listed("Landlord")], "roles[0]: role “Tenant” signs no document."),
    ([listed("Tenant") | {"fields": [IBAN | {"options": ["a", "b"]}]}],
     "documents[0].roles[0].fields[0].options: a field of type text has no such attribute."),
    ([listed("Tenant") | {"fields": [IBAN, IBAN]}],
     "documents[0].roles[0].fields[1].name: “IBAN” is the name of another field of this signer on this document."),
]  # fmt: skip


def test_bad_input(owner: ApiClient) -> None:
    document = owner.document()
    for changes, sentence in BAD:
        assert sentence in invalid(create(owner, wanted(document, **changes)))
    for roles, sentence in OF_ROLES:
        message = invalid(create(owner, wanted(document, documents=[{"id": document, "roles": roles}])))
        assert sentence in message and "signers" not in message and "signer_ref" not in message
    assert "template: it must be an object." in invalid(create(owner, ["x"]))
    assert not Template.objects.exists()


def test_the_plan_holds_for_templates(db: None) -> None:
    free = api_client("free")
    document = free.document()
    message = error(create(free, wanted(document, initials_required=True)), 403, "initials_not_available_on_plan")
    assert message == "initials_required: your plan does not include initials."
    by_sms = wanted(document, roles=[{"name": "Tenant"}, {"name": "Landlord", "otp_channel": "sms"}])
    message = error(create(free, by_sms), 403, "forbidden")
    assert message == "roles[1].otp_channel: your plan does not include codes by SMS."
    six = wanted(document, roles=[{"name": f"Role {number}"} for number in range(6)])
    assert "roles: your plan allows at most 5 entries per request, not 6." in invalid(create(free, six))


def test_a_hostile_template_is_refused_soon(owner: ApiClient) -> None:
    roles = [{"name": f"Role {number}"} for number in range(30_000)]
    document = {"id": 1, "roles": [{"role": f"Rule {number}", "stamps": []} for number in range(30_000)]}
    message = invalid(create(owner, wanted(1, roles=roles, documents=[document])))
    assert message.endswith("There may be more; checking stopped here.")


def test_problems_of_who_signs(owner: ApiClient) -> None:
    template = created(owner)["id"]
    ada = {"first_name": "Ada", "last_name": "L", "email": "ada@example.com"}
    signers = [
        {"role": "Tenant", "first_name": "", "last_name": "Hopper", "email": "x"},
        *({"role": "Tenant", "ref": "ada", **ada}, {"role": "Witness", **ada}, ada, "Ada"),
    ]
    message = invalid(send(owner, template, validity_days=0, documents=[], signers=signers))
    for sentence in (
        "validity_days: it must be from 1 to 90, not 0.",
        "documents: there is no such field here.",
        "signers[0].first_name: it must not be empty.",
        "signers[0].email: ",
        "signers[1].role: another signer has the role “Tenant” already.",
        "signers[1].ref: there is no such field here.",
        "signers[2].role: the template has no role “Witness”.",
        "signers[3].role: it is required.",
        "signers[4]: it must be an object.",
        "signers: nobody signs as “Landlord”: each role of the template needs one signer.",
    ):
        assert sentence in message, message
    assert "signs no document" not in message and "is the ref of" not in message
    assert "signers: it is required." in invalid(send(owner, template))
    assert "signers: it must be an array." in invalid(send(owner, template, signers="Ada"))
    said = invalid(send(owner, template, signers=[{"role": "Tenant", "first_name": "Ada"}]))
    assert all(f"signers[0].{name}: it is required." in said for name in ("last_name", "email"))
    assert "nobody signs as “Landlord”" in said and "signers[1]" not in said and "first_name" not in said
    no_object = owner.post(f"/templates/{template}/signature_requests", {"signature_request": []})
    assert "signature_request: it must be an object." in invalid(no_object)
    assert not SignatureRequest.objects.exists()


def test_a_phone_that_the_role_needs(owner: ApiClient) -> None:
    template = created(owner, roles=[{"name": "Tenant", "otp_channel": "sms"}, {"name": "Landlord"}])["id"]
    signers = people("Tenant", "Landlord")
    assert "signers[0].phone: it is required, as otp_channel is sms." in invalid(send(owner, template, signers=signers))
    signers[0]["phone"] = "+33612345678"
    assert send(owner, template, signers=signers).status_code == 201
    kept = list(Signer.objects.order_by("order").values_list("phone", "otp_channel"))
    assert kept == [("+33612345678", "sms"), ("", "")]


def test_a_document_that_is_there_no_more(owner: ApiClient) -> None:
    answer = created(owner)
    document = answer["documents"][0]["id"]
    Document.objects.update(file_deleted_at="2026-01-01T00:00:00Z")
    message = invalid(send(owner, answer["id"], signers=people("Tenant", "Landlord")))
    assert message == f"template.documents[0].id: there is no document {document} in this environment."


def test_lists_are_sorted_by_name_and_paged(owner: ApiClient) -> None:
    made = [created(owner, name=name)["id"] for name in ("Winter", "autumn", "Spring", "autumn")]
    pages, counts = [], []
    for page in (1, 2):
        with CaptureQueriesContext(connection) as queries:
            pages.append(owner.get("/templates", limit=3, page=page).json())
        counts.append(len(queries))
    assert counts[0] == counts[1], "of three as of one"
    assert [each["id"] for page in pages for each in page["data"]] == [made[1], made[3], made[2], made[0]]
    assert pages[0]["pagination"] == {"page": 1, "limit": 3, "count": 4, "pages": 2}


def test_a_page_with_too_many_placements_is_refused_and_each_template_is_read(
    owner: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paraph.api.v1.lists.LARGEST_MIB", 1)
    document = owner.document()
    field = {"type": "choice", "options": [f"{number} {'x' * 190}" for number in range(50)], "placement": PLACE}
    fields = [field | {"name": f"F{number}"} for number in range(50)]
    roles = [listed(role) | {"fields": fields} for role in ("Tenant", "Landlord")]
    made = [create(owner, wanted(document, documents=[{"id": document, "roles": roles}])) for _ in range(3)]
    assert [each.status_code for each in made] == [201] * 3, made[0].content
    assert invalid(owner.get("/templates")) == (
        "These 3 entries have more than 1 MiB of placements and fields. Ask for fewer at a time with “limit”."
    )
    assert [len(owner.get("/templates", limit=1, page=page).json()["data"]) for page in (1, 2, 3)] == [1, 1, 1]
    assert owner.get(f"/templates/{made[0].json()['id']}").json()["documents"] == made[0].json()["documents"]


def test_those_of_the_dashboard_are_of_production(db: None, charles: Author) -> None:
    kept = template_of(charles, roles=2)
    organization = charles.member.organization
    production = api_client("pro", "production", organization)
    assert api_client("pro", "sandbox", organization).get("/templates").json()["data"] == []
    [shown] = production.get("/templates").json()["data"]
    assert shown["roles"] == [{"name": "Tenant", "otp_channel": "email"}, {"name": "Landlord", "otp_channel": "email"}]
    stamp = rectangle(2, 50, 50, width=200, height=80)
    assert shown["documents"][0]["roles"][0] == {"role": "Tenant", "stamps": [stamp]}
    made(send(production, kept.pk, signers=people("Tenant", "Landlord")))
    assert not SignatureRequest.objects.get().send_email  # as in a creation, only the caller asks for mails


def test_those_of_the_api_serve_the_dashboard(db: None, charles: Author) -> None:
    production = api_client("pro", "production", charles.member.organization)
    kept = Template.objects.get(pk=created(production, callback_url="https://example.com/hook")["id"])
    ada, grace = ({"first_name": name, "last_name": "L", "email": f"{name}@example.com"} for name in ("Ada", "Grace"))
    draft = begin_from(charles.scope, kept, charles.member.user, [ada, grace])
    assert draft.locale == "en" and lacks(charles.scope, draft) == []
    charles.send(draft)
    columns = [f"{role} {field}" for role in ("Tenant", "Landlord") for field in ("first name", "last name", "e-mail")]
    row = ["Alan", "Turing", "alan@example.com", "Emmy", "Noether", "emmy@example.com"]
    bulk = bulk_of(charles, kept, "\r\n".join([",".join(columns), ",".join(row)]).encode())
    start_bulk_send(charles.scope, bulk.pk, sending(charles), skip_wrong=False)
    send_rows(bulk.pk)
    first, second = SignatureRequest.objects.order_by("pk")
    assert (first.callback_url, second.callback_url) == ("https://example.com/hook",) * 2
    assert (first.locale_chosen, second.locale_chosen) == (True, False)
    assert first.send_email and second.send_email  # the dashboard always invites
    assert stamps_of(first.pk) == stamps_of(second.pk)


def test_deletion_is_as_in_the_dashboard(db: None, charles: Author) -> None:
    organization = charles.member.organization
    production = api_client("pro", "production", organization)
    kept = template_of(charles)
    bulk = kept.bulk_sends.create(
        organization=organization, columns=[], language="en", file_name="x.csv", status=BulkStatus.SENDING
    )
    message = error(production.send("DELETE", f"/templates/{kept.pk}"), 409, "conflict")
    assert message == "A bulk send of this template is in progress. Cancel it first."
    bulk.delete()
    sent = send(production, kept.pk, signers=people("Tenant")).json()["id"]
    response = production.send("DELETE", f"/templates/{kept.pk}")
    assert (response.status_code, response.content) == (204, b"")
    error(production.send("DELETE", f"/templates/{kept.pk}"), 404, "not_found")
    error(production.get(f"/templates/{kept.pk}"), 404, "not_found")
    assert production.get(f"/signature_requests/{sent}").status_code == 200
    act = Activity.objects.latest("pk")
    application = organization.applications.get()
    assert (act.action, act.actor_kind, act.actor_id) == ("template.deleted", "api", application.pk)
    template = created(production)["id"]
    act = Activity.objects.get(action="template.saved", actor_kind="api")
    assert (act.actor, act.subject, act.after) == ("", f"template {template}", {"name": "Lease"})


def test_what_was_sent_under_a_key_is_found_though_the_template_is_gone(owner: ApiClient) -> None:
    calls, content, signers = keyed(owner, "one"), wanted(owner.document()), people("Tenant", "Landlord")
    first, again = create(calls, content), create(calls, content)
    assert again[REPLAYED] == "true" and first.json() == again.json() and Template.objects.count() == 1
    error(create(calls, content | {"name": "Other"}), 422, "idempotency_key_reused")
    template = first.json()["id"]
    sent = send(calls, template, signers=signers)
    owner.send("DELETE", f"/templates/{template}")
    error(create(calls, content), 410, "gone")
    assert send(calls, template, signers=signers).json() == sent.json()
    error(send(keyed(owner, "two"), template, signers=signers), 404, "not_found")


def test_the_examples_of_the_document_are_real(owner: ApiClient) -> None:
    lease = owner.upload(contract(), name="lease.pdf").json()["id"]
    [(_summary, body)] = deepcopy(BODIES["createTemplate"]).values()
    body["template"]["documents"][0]["id"] = lease
    kept = owner.post("/templates", body).json()
    [(_summary, example)] = ANSWERS["createTemplate"].values()
    own = {"id": kept["id"], "created_at": kept["created_at"], "documents": kept["documents"]}
    assert example | own == {name: kept[name] for name in example}
    for _summary, filled in BODIES["sendTemplate"].values():
        sent = made(owner.post(f"/templates/{kept['id']}/signature_requests", filled))
        [(_summary, shown)] = ANSWERS["sendTemplate"].values()
        assert set(shown) <= set(sent)
    said = refusals("createTemplate") | refusals("sendTemplate")
    template = body["template"]
    assert invalid(create(owner, template | {"validity": 3})) == said["validation_unknown_field"]
    documents = [{"id": lease, "roles": template["documents"][0]["roles"][:1]}]
    wrong = template | {"validity_days": 365, "documents": documents}
    assert invalid(create(owner, wrong)) == said["validation_fields"]
    documents = [{"id": lease, "roles": [dict(each) for each in template["documents"][0]["roles"]]}]
    documents[0]["roles"][0]["stamps"] = [tag("{{signature:seller}}")]
    message = invalid(create(owner, template | {"documents": documents}))
    assert message == said["validation_tag"].replace("35", str(lease))
    signers = people("Landlord")
    assert invalid(send(owner, kept["id"], signers=signers)) == said["validation_roles"]


def with_fields(document_id: int, **changes: Any) -> dict[str, Any]:
    """Return a template in which the tenant fills in fields, the owner approves and the landlord signs."""
    content = wanted(document_id, **changes)
    content["roles"].append({"name": "Owner", "role": "approver"})
    assigned = content["documents"][0]["roles"]
    assigned[0]["fields"] = [IBAN, RENT]
    assigned.append({"role": "Owner"})
    return content


def test_fields_approvers_and_copies_are_kept_and_come_into_the_request(owner: ApiClient) -> None:
    template = made(create(owner, with_fields(owner.document(), copies=[KIM], decline_allowed=True)))
    assert [role["role"] for role in template["roles"]] == ["signer", "signer", "approver"]
    tenant, landlord, approver = template["documents"][0]["roles"]
    assert tenant["fields"] == [IBAN, RENT]
    assert "fields" not in landlord and approver == {"role": "Owner", "stamps": []}
    assert owner.get(f"/templates/{template['id']}").json() == template
    signers = people("Owner", "Tenant", "Landlord")
    signers[1]["fields"] = [{"name": "IBAN", "value": " DE02 "}, {"name": "rent", "value": "950"}]
    answer = made(send(owner, template["id"], signers=signers))
    assert (answer["copies"], answer["decline_allowed"]) == ([KIM], True)
    assert [signer["role"] for signer in answer["signers"]] == ["signer", "signer", "approver"]
    iban, rent = Field.objects.filter(signer__first_name="Grace").order_by("position")
    assert (iban.name, iban.value, iban.max_length) == ("IBAN", "DE02", 34)
    assert (rent.name, rent.value, rent.read_only) == ("rent", "950", True)
    send(owner, template["id"], signers=people("Owner", "Tenant", "Landlord"))
    assert list(Field.objects.order_by("pk").values_list("value", flat=True)[2:]) == [None, "900"]


def test_what_is_wrong_with_values_is_told_with_its_path(owner: ApiClient) -> None:
    cases: list[tuple[Any, str]] = [
        ({}, "signers[0].fields: it must be an array."),
        ([None], "signers[0].fields[0]: it must be an object."),
        ([{"value": "x"}], "signers[0].fields[0].name: it is required."),
        ([{"name": 1, "value": "x"}], "signers[0].fields[0].name: it must be a string."),
        ([{"name": "lost", "value": "x"}], "signers[0].fields[0].name: the role has no field “lost”."),
        ([{"name": "IBAN", "value": "x"}] * 2, "signers[0].fields[1].name: “IBAN” has a value already."),
        ([{"name": "IBAN", "value": "x" * 35}], "signers[0].fields[0].value: it must have at most 34 characters."),
        ([{"name": "rent", "value": 5}], "signers[0].fields[0].value: it must be a string."),
        ([{"name": "IBAN", "value": "x", "label": "y"}], "signers[0].fields[0].label: there is no such field here."),
    ]
    template = made(create(owner, with_fields(owner.document())))
    for fields, message in cases:
        signers = people("Tenant", "Landlord", "Owner")
        signers[0]["fields"] = fields
        assert invalid(send(owner, template["id"], signers=signers)) == message
        assert not SignatureRequest.objects.exists()


def test_of_parts_that_nobody_knows_nothing_is_kept(owner: ApiClient) -> None:
    """The unknown parts have zero bytes, which JSON allows and the database does not."""
    reminders = {"every_days": 3, "at_most": 2, "\0": "\0"}
    answer = created(owner, reminders=reminders, copies=[KIM | {"\0": "\0"}], send_email=True)
    assert answer["reminders"] == {"every_days": 3, "at_most": 2}
    assert answer["copies"] == [KIM]
