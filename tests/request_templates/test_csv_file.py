"""CSVs as spreadsheets and people write them."""

import codecs
import re
import tracemalloc

import pytest

from paraph.kernel.errors import DomainError
from paraph.request_templates.csv_file import MOST_BYTES, MOST_ROWS, read_csv, write_csv

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
    """Without much memory."""
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
