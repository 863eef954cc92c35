"""The verdicts of other programs on sealed files and on their alterations never get worse."""

import re
from dataclasses import replace

import pytest

from lab.opinions.alterations import ALTERATIONS
from lab.opinions.files import FILES, authority
from lab.opinions.run import GENUINE, PAGE, ROWS, opinions, worse
from lab.opinions.validators import VALIDATORS
from paraph.pdf.verification.verify import verify
from tests import independent

_PACKAGES = {"openssl": "openssl", "pdfsig": "poppler-utils", "certutil": "libnss3-tools", "mutool": "mupdf-tools"}
_SHORT = ("a byte of the content", "a byte of the seal", "a byte of the seal's timestamp")


@pytest.fixture(autouse=True, scope="module")
def _all_are_installed() -> None:
    for program, package in _PACKAGES.items():
        independent.need(program, package)


def test_content_seal_and_timestamp_are_looked_at() -> None:
    answers = list(opinions(["OpenSSL", "poppler", "MuPDF"], ["B-LTA"], (GENUINE, *_SHORT)))
    assert len(answers) == 12
    assert list(worse(answers)) == []


@pytest.mark.thorough
@pytest.mark.parametrize("file", FILES)
def test_nobody_says_worse_of_any_file_and_no_alteration_goes_unseen(file: str) -> None:
    answers = list(opinions(VALIDATORS, [file]))
    assert len({each.row for each in answers}) >= 7
    assert list(worse(answers)) == []


def test_a_verdict_that_got_worse_would_be_told() -> None:
    answers = list(opinions(["OpenSSL"], ["B-T"], (GENUINE, "a byte of the seal")))
    other = [each._replace(opinion=replace(each.opinion, holds=not each.opinion.holds)) for each in answers]
    assert [sentence.partition(":")[0] for sentence in worse(other)] == [
        "OpenSSL says of B-T as it was sealed",
        "OpenSSL does not see a byte of the seal in B-T",
    ]


def test_the_page_says_what_the_programs_claim_to_see() -> None:
    _, table = re.findall(r"<!-- make opinions: (\w+) -->\n(.*?)<!-- end", PAGE.read_text(), re.DOTALL)[0]
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    assert head[1:] == list(VALIDATORS) and [row[0] for row in rows] == list(ROWS)
    for name, *cells in rows:
        for validator, cell in zip(VALIDATORS.values(), cells, strict=True):
            if name in validator.sees:
                assert cell == "**no**", (name, cell)
            elif name == GENUINE:
                assert cell == (f"sound: {len(FILES) - 1} of {len(FILES)}" if validator.refuses else "sound")


def test_each_program_has_its_words_on_the_page() -> None:
    marks = re.findall(r"<!-- make opinions: (\w+) -->\n\| File \| (\w+) [\d.]+ says \|", PAGE.read_text())
    assert marks == [(name, name) for name in VALIDATORS]


@pytest.mark.parametrize("row", [row for row in ROWS if row != GENUINE])
def test_each_finding_is_a_sentence_for_people(row: str) -> None:
    root = authority("p-256").root
    for finding in verify(ALTERATIONS[row]("B-LTA"), [root]).findings:
        assert re.fullmatch(r'[A-Z"].*\.', finding), finding
        assert not re.search(r'""|\w\(\w+=', finding), finding
