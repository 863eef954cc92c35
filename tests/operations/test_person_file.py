"""What is kept of a person as a PDF: everything of the JSON stands in it, in letters that can be read."""

import io
import re
import stat
from datetime import UTC, datetime
from pathlib import Path

import pypdfium2
import pytest

from paraph.flow.personal_data.erase import show_person
from paraph.kernel.errors import DomainError
from paraph.operations.people import write_person_file
from paraph.pdf.typesetting.person_report import ReportedPlace, person_report
from tests.flow.test_show_person import ADDRESS, PHONE, signed_everywhere, works_here

AT = datetime(2026, 11, 23, 9, 30, tzinfo=UTC)


def text_of(pdf: bytes) -> str:
    document = pypdfium2.PdfDocument(io.BytesIO(pdf))
    pages = [document[number].get_textpage().get_text_bounded() for number in range(len(document))]
    return re.sub(r"Personaldatakeptbythisservice,.{19}Page\d+of\d+", "", plain("".join(pages)))


def plain(text: str) -> str:
    """Without white space, and without hyphens, of which PDFium takes those at the end of a line for its own."""
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
