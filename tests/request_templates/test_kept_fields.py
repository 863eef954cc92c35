"""What is asked of signers goes with templates, and is filled in by columns of a CSV."""

from dataclasses import replace

import pytest

from paraph.drafts import editing
from paraph.drafts.content import creation_of
from paraph.drafts.models import Draft
from paraph.drafts.review import refusals
from paraph.request_templates.csv_file import asked_of, sample_values
from paraph.request_templates.filled import with_people
from paraph.request_templates.models import BulkRow, Template
from paraph.request_templates.saving import Names, begin_from, of_draft, of_request, save_template
from paraph.signature_requests.models import Field, SignatureRequest
from tests.drafts.author import IBAN, PETS, SIGNED_ON, Author, asking, author
from tests.request_templates.kept import bulk_of

pytestmark = pytest.mark.django_db
DEPOSIT = {"name": "Deposit", "type": "number", "required": True}
READ = {"name": "House rules", "type": "checkbox", "required": True}


def template_asking(charles: Author) -> Template:
    draft = asking(charles, IBAN, PETS, DEPOSIT, READ, SIGNED_ON, signers=2)
    draft.content["signers"][1]["role"] = "approver"
    draft.content |= {"copies": [{"first_name": "Mary", "last_name": "S", "email": "mary@example.com"}]}
    names = Names("Lease", ["Tenant", "Landlord"])
    return save_template(charles.scope, of_draft(draft), charles.actor, names)


def test_a_template_keeps_fields_and_roles_and_no_people(charles: Author) -> None:
    template = template_asking(charles)
    assert template.content["decline_allowed"] and "copies" not in template.content, "they go to people"
    people = [{"first_name": name, "last_name": "X", "email": f"{name}@example.com"} for name in "ab"]
    draft = begin_from(charles.scope, template, charles.member.user, people)
    source = Draft.objects.exclude(pk=draft.pk).get()
    kept, first = (creation_of(each.content)["documents"][0]["signers"] for each in (draft, source))
    assert kept[0]["fields"] == first[0]["fields"] and len(kept[0]["fields"]) == 5
    assert kept[1] == {"signer_ref": "2. b X"}
    assert creation_of(draft.content)["signers"][1]["role"] == "approver"


def test_a_sent_request_becomes_a_template_that_asks_the_same(charles: Author) -> None:
    source = asking(charles, IBAN, PETS, DEPOSIT | {"minimum": 0.5}, READ, SIGNED_ON, signers=2)
    signer, approver = source.content["signers"]
    editing.replace_signers(source, [signer, approver | {"role": "approver"}])
    first = creation_of(source.content)
    assert refusals(charles.scope, source) == []
    sent = SignatureRequest.objects.get(pk=charles.send(source))
    assert [field.name for field in Field.objects.order_by("position")] == [
        "IBAN",
        "Pets",
        "Deposit",
        "House rules",
        "Date",
    ]
    assert sent.decline_allowed and list(sent.signers.values_list("role", flat=True)) == ["signer", "approver"]
    names = Names("Again", ["Tenant", "Landlord"])
    template = save_template(charles.scope, of_request(sent), charles.actor, names)
    people = [{"first_name": name, "last_name": "X", "email": f"{name}@example.com"} for name in "ab"]
    draft = begin_from(charles.scope, template, charles.member.user, people)
    assert refusals(charles.scope, draft) == []
    asked = [each["documents"][0]["signers"][0]["fields"] for each in (creation_of(draft.content), first)]
    assert [[field["name"], field["type"], field["placement"]] for field in asked[0]] == [
        [field["name"], field["type"], field["placement"]] for field in asked[1]
    ]
    assert [field.get("minimum") for field in asked[0]] == [None, None, 0.5, None, None]
    assert asked[0][1]["options"] == ["None", "A cat"] and asked[0][1]["required"] is False
    assert creation_of(draft.content)["decline_allowed"] is True


def test_what_was_filled_in_beforehand_stays_with_the_request_and_its_sender_gives_it_anew(charles: Author) -> None:
    flat = {"name": "Flat", "type": "text", "required": True, "read_only": True, "value": "4b"}
    sent = SignatureRequest.objects.get(pk=charles.send(asking(charles, IBAN | {"value": "DE02"}, flat)))
    names = Names("Again", ["Tenant"])
    template = save_template(charles.scope, of_request(sent), charles.actor, names)
    person = {"first_name": "A", "last_name": "X", "email": "a@example.com"}
    draft = begin_from(charles.scope, template, charles.member.user, [person])
    asked = creation_of(draft.content)["documents"][0]["signers"][0]["fields"]
    assert ["value" in field for field in asked] == [False, False] and asked[1]["read_only"] is True
    [refusal] = refusals(charles.scope, draft)
    assert refusal.sentence == "“Flat” on contract.pdf needs a value, since signers cannot change it."
    *others, last = draft.places()
    draft.place([*others, replace(last, field={"value": "5c"} | (last.field or {}))])
    assert refusals(charles.scope, draft) == []


def test_a_cell_that_a_field_does_not_take_names_its_column(charles: Author) -> None:
    template = template_asking(charles)
    header = "Tenant: First name,Tenant: Last name,Tenant: E-mail,Landlord: First name,Landlord: Last name"
    rows = f"{header},Landlord: E-mail,Tenant: Pets\nA,B,a@example.com,C,D,c@example.com,A dog"
    row = bulk_of(charles, template, rows.encode()).rows.get()
    assert row.state == "wrong" and row.problems[0].startswith("“Tenant: Pets”: it must be one of None, A cat.")


@pytest.mark.parametrize("cell", ["1.250", "1,250"])
def test_a_number_that_can_be_read_in_two_ways_is_asked_about(cell: str, charles: Author) -> None:
    """The signing page asks its signer. The answers that the sentence gives are taken; a text is as it is written."""
    template = template_asking(charles)
    header = "Tenant: First name,Tenant: Last name,Tenant: E-mail,Landlord: First name,Landlord: Last name"
    header += ",Landlord: E-mail,Tenant: IBAN,Tenant: Deposit"

    def checked(number: str) -> BulkRow:
        rows = f'{header}\nA,B,a@example.com,C,D,c@example.com,"{cell}","{number}"'
        return bulk_of(charles, template, rows.encode()).rows.get()

    row = checked(cell)
    told = f"Tenant: Deposit: “{cell}” can be read in two ways. Write 1250 or 1.25."
    assert (row.state, row.problems) == ("wrong", [told])
    for answer, value in (("1250", "1250"), ("1.25", "1.25"), ("1,25", "1.25")):
        row = checked(answer)
        assert row.state == "ready" and row.signers[0]["values"] == {"IBAN": cell, "Deposit": value}, row.problems


def test_columns_of_fields_prefill_them(charles: Author) -> None:
    template = template_asking(charles)
    header = "Tenant: First name,Tenant: Last name,Tenant: E-mail,Landlord: First name,Landlord: Last name"
    header += ",Landlord: E-mail,tenant: iban,Tenant: Deposit,Tenant: House rules,Tenant: Pets"
    bulk = bulk_of(
        charles, template, f'{header}\nA,B,a@example.com,C,D,c@example.com,DE89 3704,"1250,50",yes,'.encode()
    )
    row = bulk.rows.get()
    assert row.state == "ready", row.problems
    assert row.signers[0]["values"] == {"IBAN": "DE89 3704", "Deposit": "1250.50", "House rules": True}
    creation = with_people(creation_of(template.content), row.signers)
    fields = creation["documents"][0]["signers"][0]["fields"]
    assert {field["name"]: field.get("value") for field in fields} == {
        "IBAN": "DE89 3704",
        "Pets": None,
        "Deposit": "1250.50",
        "House rules": True,
        "Date": None,
    }
    assert "values" not in creation["signers"][0]


def test_the_sample_names_what_can_be_filled_in() -> None:
    template = template_asking(author())
    columns, cells = sample_values(template.roles, asked_of(template))
    assert columns == ["Tenant: IBAN", "Tenant: Pets", "Tenant: Deposit", "Tenant: House rules"]
    assert cells == ["…", "None", "1250.50", "x"]


@pytest.mark.parametrize(
    ("cell", "value"), [("2027-02-01", "2027-02-01"), ("01.02.2027", "2027-02-01"), ("1. 2. 2027", "2027-02-01")]
)
def test_dates_are_written_with_dots_or_as_payloads_have_them(cell: str, value: str) -> None:
    row = row_with_date(cell)
    assert (row.state, row.signers[0]["values"]) == ("ready", {"Start_of_lease": value})


@pytest.mark.parametrize("cell", ["1/2/2027", "13/2/2027", "20270201", "February 1", "01.02.27"])
def test_other_dates_are_refused_by_their_column(cell: str) -> None:
    row = row_with_date(cell)
    assert (row.state, row.problems) == ("wrong", ["Start_of_lease: write the date as 2027-02-01 or 01.02.2027."])


def row_with_date(cell: str) -> BulkRow:
    charles = author()
    draft = asking(charles, {"name": "Start_of_lease", "type": "date", "required": True})
    template = save_template(charles.scope, of_draft(draft), charles.actor, Names("Lease", ["Tenant"]))
    rows = f"First name,Last name,E-mail,Start_of_lease\nAda,Lovelace,ada@example.com,{cell}"
    return bulk_of(charles, template, rows.encode()).rows.get()
