"""Reading a CSV as spreadsheets write it: UTF-8 or UTF-16, commas, semicolons or tabs."""

import codecs
import csv
import io
from collections.abc import Iterator
from typing import NamedTuple

from django.utils.translation import gettext as _

from paraph.kernel.csv_lines import as_typed, csv_line
from paraph.kernel.errors import DomainError

MOST_BYTES = 1024 * 1024
MOST_ROWS = 1000
_DELIMITERS = ",;\t"
_LONGEST_CELL = 1000
_MOST_COLUMNS = 200


class CsvRow(NamedTuple):
    """``number``: the row's place in a spreadsheet, where the header is 1. Empty rows are counted and left out."""

    number: int
    cells: list[str]


class Table(NamedTuple):
    columns: list[str]
    rows: list[CsvRow]


def read_csv(content: bytes) -> Table:
    """Raise ``DomainError("validation_error", …)`` with a sentence for whoever made the file."""
    if len(content) > MOST_BYTES:
        raise _refused(_("The file is larger than 1 MiB."))
    text = _decoded(content)
    lines = _lines(text, _delimiter(text))
    header = next(lines, None)
    if header is None:
        raise _refused(_("The file is empty."))
    rows = []
    for row in lines:
        rows.append(row)
        if len(rows) > MOST_ROWS:
            raise too_many_rows(MOST_ROWS)
    if not rows:
        raise _refused(_("The file has a header but no rows."))
    return Table(header.cells, rows)


def too_many_rows(limit: int) -> DomainError:
    return _refused(_("The file has more than %(limit)d rows. Split it into several.") % {"limit": limit})


def write_csv(columns: list[str], rows: list[list[str]]) -> bytes:
    """Return a CSV with the mark by which spreadsheets know UTF-8. :func:`read_csv` takes the apostrophes of
    :func:`~paraph.kernel.csv_lines.csv_line` away again."""
    return codecs.BOM_UTF8 + "".join(csv_line(row) for row in [columns, *rows]).encode()


def _decoded(content: bytes) -> str:
    wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = content.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError:
        raise _refused(_("The file is not text in UTF-8. Save it as “CSV UTF-8” and try again.")) from None
    if "\0" in text:
        raise _refused(_("The file is not a CSV file."))
    return text


def _delimiter(text: str) -> str:
    """Return the character that stands most often in the first line that is not empty."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    return max(_DELIMITERS, key=first.count)


def _lines(text: str, delimiter: str) -> Iterator[CsvRow]:
    try:
        for number, cells in enumerate(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), start=1):
            if len(cells) > _MOST_COLUMNS or any(len(cell) > _LONGEST_CELL for cell in cells):
                sentence = _("Row %(number)d is too long. Is a quotation mark missing?")
                raise _refused(sentence % {"number": number})
            stripped = [as_typed(cell.strip()).strip() for cell in cells]
            if any(stripped):
                yield CsvRow(number, stripped)
    except csv.Error:
        raise _refused(_("The file is not a CSV file.")) from None


def _refused(sentence: str) -> DomainError:
    return DomainError("validation_error", sentence)
