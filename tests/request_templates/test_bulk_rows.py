"""CSVs as people write them: each row is checked as if it were sent, its columns fill in fields, nothing is sent."""

import codecs
import re
import tracemalloc
from typing import Any
from uuid import uuid4

import pytest

from paraph.drafts.content import creation_of
from paraph.kernel.errors import DomainError
from paraph.pdf.typesetting.typeset import measured
from paraph.request_templates.csv_file import (
    MOST_BYTES,
    MOST_ROWS,
    asked_of,
    read_csv,
    sample,
    sample_values,
    write_csv,
)
from paraph.request_templates.filled import with_people
from paraph.request_templates.models import BulkRow, BulkSend, Template
from paraph.request_templates.saving import Names, of_draft, save_template
from paraph.signature_requests.models import SignatureRequest
from tests.drafts.author import IBAN, PETS, Author, asking, author
from tests.factories import jobs
from tests.request_templates.kept import bulk_of, csv_of, template_asking, template_of

pytestmark = pytest.mark.django_db


def test_the_sample_is_right(charles: Author) -> None:
    for roles in (1, 3):
        template = template_of(charles, roles=roles)
        columns, row = sample(template.roles)
        written = write_csv(columns, [row])
        checked = bulk_of(charles, template, written).rows.get()
        assert (checked.state, checked.problems, checked.number) == ("ready", [], 2)
        assert checked.signers[0]["phone"] == "+33612345678" and len(checked.signers) == roles
        assert len(set(row)) == len(row) and b"'" not in written, "each role has a person of its own"


def test_each_row_says_what_is_wrong_with_it(charles: Author) -> None:
    rows = ["Ada Lovelace ada@example.com", "Grace Hopper nobody", "Alan", "ADA Lovelace ada@example.com"]
    bulk = bulk_of(charles, template_of(charles), csv_of(*rows, "A B a@example.com more"))
    states = {row.number: (row.state, " ".join(row.problems)) for row in bulk.rows.all()}
    assert states[2] == ("ready", "")
    assert states[3][0] == "wrong" and "Tenant: E-mail" in states[3][1] and "nobody" in states[3][1]
    assert states[4][1].count("must not be empty") == 2
    assert states[5][1] == "Same as row 2."
    assert "more cells" in states[6][1]
    assert not SignatureRequest.objects.exists() and not jobs()


def test_roles_have_columns_of_their_own_in_any_order(charles: Author) -> None:
    template = template_of(charles, roles=2)
    landlord = "landlord e-mail;Landlord: First Name;LANDLORD LAST NAME"
    header = f"note;{landlord};Tenant first name;Tenant last name;tenant email"
    bulk = bulk_of(charles, template, f"{header}\nx;l@example.com;L;M;T;U;t@example.com".encode())
    row = bulk.rows.get()
    assert [person["email"] for person in row.signers] == ["t@example.com", "l@example.com"], row.problems


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("First name,Last name", "is missing these columns: “Tenant: E-mail”"),
        ("First name,Last name,E-mail,email", "two columns named “email”"),
    ],
)
def test_a_file_with_other_columns_is_refused_whole(header: str, said: str, charles: Author) -> None:
    with pytest.raises(DomainError, match=said):
        bulk_of(charles, template_of(charles), f"{header}\na,b,c@example.com,d".encode())
    assert not BulkSend.objects.exists()


def test_a_code_by_sms_needs_a_phone(settings: Any) -> None:
    settings.PARAPH = settings.PARAPH.model_copy(update={"sms_url": "twilio://a:b@c"})
    charles = author()
    template = template_of(charles)
    template.content["signers"][0]["otp_channel"] = "sms"
    template.save()
    with pytest.raises(DomainError, match="Phone"):
        bulk_of(charles, template, csv_of("Ada Lovelace ada@example.com"))
    rows = b"First name,Last name,E-mail,Phone\nAda,L,a@example.com,\nB,L,b@example.com,+33 612345678"
    bulk = bulk_of(charles, template, rows)
    assert [row.state for row in bulk.rows.all()] == ["wrong", "ready"]
    assert bulk.rows.get(number=3).signers[0]["phone"] == "+33612345678"


def test_values_are_bounded_before_a_row_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paraph.request_templates.bulk_rows.MOST_VALUES", 6)
    charles = author()
    people = [f"P{number} X p{number}@example.com" for number in range(4)]
    template = asking_template(charles, IBAN, PETS)
    assert bulk_of(charles, template, csv_of(*people[:3])).rows.count() == 3
    with pytest.raises(DomainError, match="more than 3 rows"):
        bulk_of(charles, template, csv_of(*people))
    assert BulkSend.objects.count() == 1


def test_a_check_that_takes_too_long_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paraph.request_templates.bulk_rows._MOST_SECONDS", -1)
    charles = author()
    with pytest.raises(DomainError, match="more than 0 rows"):
        bulk_of(charles, template_of(charles), csv_of("Ada Lovelace ada@example.com"))
    assert not BulkSend.objects.exists()


def test_what_all_rows_share_is_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[int] = []

    def count(template: str, content: Any) -> Any:
        counted.append(len(content["fields"]))
        return measured(template, content)

    monkeypatch.setattr("paraph.pdf.typesetting.field_values.measured", count)
    charles = author()
    fixed = [IBAN | {"name": f"Field {number}", "value": f"Zürich {number} {uuid4()}"[:34]} for number in range(5)]
    people = [f"P{number} X p{number}@example.com" for number in range(8)]
    template = asking_template(charles, *fixed)
    for field, content in zip(template.fields_of(template.roles[0]), fixed, strict=True):
        field["value"] = content["value"]  # a template made by API keeps values
    template.save()
    bulk_of(charles, template, csv_of(*people))
    assert counted == [5]


def asking_template(charles: Author, *contents: dict[str, Any]) -> Template:
    draft = asking(charles, *contents)
    return save_template(charles.scope, of_draft(draft), charles.actor, Names("Lease", ["Tenant"]))


def row_with(charles: Author, template: Template, **cells: str) -> BulkRow:
    """Return a row for a template that has fields, with these cells of the tenant beside both people."""
    people = "Tenant: First name,Tenant: Last name,Tenant: E-mail,Landlord: First name,Landlord: Last name"
    columns = ",".join([people, "Landlord: E-mail", *(f"tenant: {name.replace('_', ' ')}" for name in cells)])
    row = ",".join(["A,B,a@example.com,C,D,c@example.com", *(f'"{cell}"' for cell in cells.values())])
    return bulk_of(charles, template, f"{columns}\n{row}".encode()).rows.get()


def test_columns_of_fields_prefill_them(charles: Author) -> None:
    template = template_asking(charles)
    row = row_with(charles, template, iban="DE89 3704", Deposit="1250,50", House_rules="yes", Pets="")
    assert row.state == "ready", row.problems
    values = {"IBAN": "DE89 3704", "Deposit": "1250.50", "House rules": True}
    assert row.signers[0]["values"] == values
    creation = with_people(creation_of(template.content), row.signers)
    fields = creation["documents"][0]["signers"][0]["fields"]
    assert {field["name"]: field.get("value") for field in fields} == {"Pets": None, "Date": None, **values}
    assert "values" not in creation["signers"][0]
    columns, cells = sample_values(template.roles, asked_of(template))
    assert columns == ["Tenant: IBAN", "Tenant: Pets", "Tenant: Deposit", "Tenant: House rules"]
    assert cells == ["…", "None", "1250.50", "x"]
    row = row_with(charles, template, Pets="A dog")
    assert row.state == "wrong" and row.problems[0].startswith("“Tenant: Pets”: it must be one of None, A cat.")


@pytest.mark.parametrize("cell", ["1.250", "1,250"])
def test_a_number_that_can_be_read_in_two_ways_is_asked_about(cell: str, charles: Author) -> None:
    """The signing page asks likewise. Both answers that the sentence gives are taken; a text stays as it is written."""
    template = template_asking(charles)
    row = row_with(charles, template, IBAN=cell, Deposit=cell)
    told = f"tenant: Deposit: “{cell}” can be read in two ways. Write 1250 or 1.25."
    assert (row.state, row.problems) == ("wrong", [told])
    for answer, value in (("1250", "1250"), ("1.25", "1.25"), ("1,25", "1.25")):
        row = row_with(charles, template, IBAN=cell, Deposit=answer)
        assert row.state == "ready" and row.signers[0]["values"] == {"IBAN": cell, "Deposit": value}, row.problems


DATES = {"2027-02-01": True, "01.02.2027": True, "1. 2. 2027": True}
DATES |= dict.fromkeys(("1/2/2027", "13/2/2027", "20270201", "February 1", "01.02.27"), False)


def test_dates_are_written_with_dots_or_as_payloads_have_them(charles: Author) -> None:
    """Other dates are refused, with the name of their column."""
    template = asking_template(charles, {"name": "Start_of_lease", "type": "date", "required": True})
    for cell, is_taken in DATES.items():
        rows = f"First name,Last name,E-mail,Start_of_lease\nAda,Lovelace,ada@example.com,{cell}"
        row = bulk_of(charles, template, rows.encode()).rows.get()
        if is_taken:
            assert (row.state, row.signers[0]["values"]) == ("ready", {"Start_of_lease": "2027-02-01"}), cell
        else:
            told = ["Start_of_lease: write the date as 2027-02-01 or 01.02.2027."]
            assert (row.state, row.problems) == ("wrong", told), cell


ROWS = [(2, ["Émile", "é@example.com"]), (4, ["=1+1", "+33612345678"])]
TEXT = "Name,Mail\r\nÉmile,é@example.com\r\n\r\n=1+1,+33612345678\r\n"


@pytest.mark.parametrize(
    "content",
    [
        TEXT.encode(),
        codecs.BOM_UTF8 + TEXT.encode(),
        TEXT.replace(",", ";").encode(),
        TEXT.replace(",", "\t").encode("utf-16"),
        TEXT.replace("\r\n", "\n").encode(),
        TEXT.replace("Émile", ' "Émile" ').replace(" ", "").encode(),
    ],
)
def test_it_is_read_however_it_was_saved(content: bytes) -> None:
    table = read_csv(content)
    assert table.columns == ["Name", "Mail"]
    assert [tuple(row) for row in table.rows] == ROWS


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "empty"),
        (b"Name,Mail\n", "no rows"),
        ("Zo\xeb".encode("latin-1"), "UTF-8"),
        (b"PK\x03\x04\x00\x00", "not a CSV"),
        (b"a" * (MOST_BYTES + 1), "larger"),
        (b"Name\n" + b"x\n" * (MOST_ROWS + 1), "more than 1000"),
        (b'Name\n"' + b"x\n" * 2000, "quotation mark"),
        (b"," * 300 + b"\nx", "too long"),
        (b"," * 900_000, "too long"),
        (b'Name\n"' + b"x" * 900_000, "not a CSV"),
        (b"Name\n" + b"\0" * 1000, "not a CSV"),
        (b"\xff\xfe" + b"\xd8" * 99_999, "UTF-8"),
    ],
)
def test_what_cannot_be_read_is_said(content: bytes, said: str) -> None:
    """The file is refused before it takes much memory."""
    tracemalloc.start()
    with pytest.raises(DomainError, match=said):
        read_csv(content)
    assert tracemalloc.get_traced_memory()[1] < 64 << 20
    tracemalloc.stop()


def test_what_is_written_is_no_formula_and_is_read_as_it_was() -> None:
    cells = ["=HYPERLINK(1)", "+33612345678", "-1", "@SUM", "O'Neill", 'a,"b"', "Émile", "\uff1d1", "a\n=b", "x\r\n+1"]
    written = write_csv(["Cell"], [[cell] for cell in cells])
    assert not re.search(rb"[\r\n][\"]?[=+@-]", written)
    assert [row.cells[0] for row in read_csv(written).rows] == cells
