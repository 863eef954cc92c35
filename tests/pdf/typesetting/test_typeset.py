"""Typst numbers the files of a process, and has 65,535 numbers: typesetting takes none of them for each value."""

import subprocess
import sys

import pytest

from paraph.pdf.typesetting import typeset
from paraph.pdf.typesetting.typeset import TypesettingError

_ALL_NUMBERS = """
import typst
from paraph.pdf.typesetting import typeset
from paraph.pdf.typesetting.field_values import FieldContent, field_picture, fitted_size

def works(text):
    value = FieldContent(160, 12, text)
    page = {"kind": "fields", "width": 9, "height": 9, "fields": []}
    pdf = typeset.typeset("appearances", {"pages": [page], "drawings": {}}, standard="a-2b")
    return fitted_size(value) and field_picture(value).startswith(b"<svg") and pdf

assert works("A value that is measured")
nothing = typst.Fonts(include_system_fonts=False, include_embedded_fonts=False)
for _ in range(65_400):
    typst.Compiler(input=b"", font_paths=nothing, ignore_system_fonts=True)
assert all(works(f"Another value to measure, number {number}") for number in range(200))
"""
_MANY = """
import resource
from paraph.pdf.typesetting.field_values import FieldContent, fitted_size

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

for number in range(100_000):
    assert fitted_size(FieldContent(120, 14, f"Value {number} of a row of values"))
    if number == 1000:
        before = peak()
assert peak() < 1.5 * before, (before, peak())
"""


def test_a_panic_is_an_error_and_ends_nothing() -> None:
    class Panic(BaseException):
        """As Typst raises one."""

    with pytest.raises(TypesettingError, match="out of file ids"), typeset._panics_raised():
        raise Panic("out of file ids")
    with pytest.raises(KeyboardInterrupt), typeset._panics_raised():
        raise KeyboardInterrupt


@pytest.mark.thorough
@pytest.mark.parametrize("script", [_ALL_NUMBERS, _MANY], ids=["few numbers left", "100,000 values"])
def test_any_number_of_values_is_measured(script: str) -> None:
    subprocess.run([sys.executable, "-c", script], check=True)
