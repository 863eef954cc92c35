"""What lawyers read of personal data and accessibility is what the code does."""

import re
from pathlib import Path
from typing import Any

from django.apps import apps
from django.db import models

from paraph.flow.personal_data.erase import OF_ACCOUNT
from paraph.flow.personal_data.of_signer import OF_SIGNER
from paraph.flow.personal_data.place import Place
from paraph.flow.personal_data.unsent import UNSENT

PROJECT = Path(__file__).parents[2]
DATA_PROTECTION = (PROJECT / "docs" / "data-protection.md").read_text()
ACCESSIBILITY = (PROJECT / "docs" / "accessibility.md").read_text()

OF_NOBODY = """
    organizations_application.webhook_secret_encrypted organizations_application.next_webhook_secret_encrypted
    organizations_apikey.sha256 organizations_logo.sha256 organizations_installation.secret_fingerprint
    members_invitation.secret_sha256 signature_requests_signer.token_salt signature_requests_copyrecipient.token_salt
    evidence_sharedcontent.sha256 evidence_sealeddocument.sha256 evidence_prooffile.sha256
    evidence_bundletimestamp.manifest_sha256 evidence_bundletimestamp.token
    evidence_kepttimestamp.token evidence_certificatestatus.certificate_sha256 evidence_certificatestatus.certificate
    evidence_certificatestatus.issuer evidence_certificatestatus.content journal_sharedfacts.sha256
    transparency_logentry.sha256 transparency_lognode.hash transparency_logkey.private_encrypted
    transparency_checkpoint.token transparency_cosigned.root
    journal_entry.hash documents_document.sha256 documents_document.prepared_sha256
"""
"""Columns of bytes that are secrets of programs, random values, certificates and digests of files."""


def mapped() -> set[str]:
    """The columns that the data map names, as ``table.column``."""
    rows = DATA_PROTECTION.split("### In the database\n")[1].split("\n### ")[0]
    places = re.findall(r"`(\w+): ([\w ]+)`", "\n".join(row.split("|")[2] for row in rows.splitlines() if "|" in row))
    return {f"{table}.{column}" for table, columns in places for column in columns.split()}


def kept() -> "dict[str, models.Field[Any, Any]]":
    tables = apps.get_models(include_auto_created=True)
    return {
        f"{table._meta.db_table}.{field.column}": field for table in tables for field in table._meta.concrete_fields
    }


def test_the_data_map_names_every_column_that_holds_something_of_a_person() -> None:
    """``tests/flow/test_show_person.py`` holds that each column with a text belongs to a place or to nobody."""
    in_bytes = {name for name, field in kept().items() if isinstance(field, models.BinaryField)}
    of_nobody = set(OF_NOBODY.split())
    assert of_nobody - in_bytes == set(), "is no such column"
    places: list[Place[Any, Any]] = [*OF_SIGNER, *UNSENT, *OF_ACCOUNT]
    of_places = {column for place in places for column in place.columns}
    assert (of_places | in_bytes) - of_nobody - mapped() == set(), "is not in docs/data-protection.md"


def test_the_data_map_names_no_column_that_is_not_there() -> None:
    assert {name for name in mapped() - set(kept()) if not name.startswith("socialaccount_")} == set()


def test_each_row_of_the_data_map_says_whose_how_long_and_how_it_goes() -> None:
    rows = DATA_PROTECTION.split("### In the database\n")[1].split("\n## ")[0].splitlines()
    cells = [row.strip("|").split("|") for row in rows if row.startswith("| ")]
    assert len(cells) > 30
    assert [row for row in cells if len(row) not in (4, 5) or not all(cell.strip() for cell in row[:3])] == []


def test_each_test_that_the_statement_names_is_there() -> None:
    named = re.findall(r"`(\w+/test_\w+\.py)`", ACCESSIBILITY)
    assert len(named) > 8
    assert [name for name in named if not (PROJECT / "tests" / name).is_file()] == []
