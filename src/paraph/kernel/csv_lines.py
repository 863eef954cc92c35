"""Lines of CSV that a spreadsheet shows and never computes: every export is written by :func:`csv_line`."""

import csv
import io
import re
from collections.abc import Iterable

_BREAKS = r"\r\n\v\f\x1c-\x1e\x85\u2028\u2029"
# Signs that spreadsheets take for the beginning of a formula, also in their wide and small forms.
_SIGNS = r"=+\-@\t\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u2212"
_FORMULA = rf"(?=[ \xa0\u3000]*[{_SIGNS}])"
_BEGINNING = re.compile(rf"^(?=[\r\n])|(^|[{_BREAKS}]){_FORMULA}")
_ESCAPED = re.compile(rf"^'(?=[\r\n])|(^|[{_BREAKS}])'{_FORMULA}")


def csv_line(cells: Iterable[str]) -> str:
    """Return the cells as a line with its line break. An apostrophe is put before text that begins like a formula, also
    after a line break in a cell, where some programs begin a new row. Every cell is in quotation marks, so that a
    spreadsheet that expects semicolons or tabs between cells does not divide a cell that contains them."""
    line = io.StringIO(newline="")
    csv.writer(line, quoting=csv.QUOTE_ALL).writerow([_BEGINNING.sub(r"\1'", cell) for cell in cells])
    return line.getvalue()


def as_typed(cell: str) -> str:
    """Return a cell without the apostrophes of :func:`csv_line`."""
    return _ESCAPED.sub(r"\1", cell)
