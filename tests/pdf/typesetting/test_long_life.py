"""A process can typeset for months: no document uses up one of Typst's 65,535 file ids, or memory for good."""

import os
import subprocess
import sys
import textwrap

import pytest

from paraph.pdf.typesetting.typeset import TypesettingError, _panics_raised

_TYPESET = """
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import typst

from paraph.pdf.typesetting.appearances import StampContent, appearances, stamp_svg
from paraph.pdf.typesetting.field_values import FieldContent, FieldPlace, FieldsContent, field_picture, fitted_size
from paraph.pdf.typesetting.fonts import library


def measure(*numbers):
    for n in numbers:
        text = f"Straße des 17. Juni, Haus {n}, Berlin"
        assert fitted_size(FieldContent(150 + n % 90, 30 + n % 40, text, multiline=bool(n % 2)))


def draw(number):
    stamp = StampContent(200, 80, f"Signer {number}", datetime(2026, 11, 21, tzinfo=UTC), number)
    field = FieldContent(160, 18, f"Größe {number}")
    field_picture(field)
    stamp_svg(stamp)
    appearances([stamp], fields=[FieldsContent(200, 80, [FieldPlace(0, 0, field)])])


def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def take_ids(count):
    '''Have Typst read one file by so many names: each takes an id for the life of the process.'''
    letters = "abcdefghijklmnop"
    with TemporaryDirectory() as folder:
        Path(folder, "file").touch()
        for letter in letters:
            Path(folder, letter).symlink_to(".")
        names = 'letters.at(calc.rem(n, 16)), letters.at(calc.rem(calc.quo(n, 16), 16)), ' \\
            'letters.at(calc.rem(calc.quo(n, 256), 16)), letters.at(calc.quo(n, 4096))'
        reading = f'#let letters = "{letters}".clusters();'
        reading += f'#for n in range({count}) {{ let x = read("/" + ({names}).join("/") + "/file") }}'
        compiler = typst.Compiler(root=folder, font_paths=library().typst_fonts)
        compiler.compile(input=reading.encode(), format="svg")
"""


def typeset(program: str) -> str:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", _TYPESET + textwrap.dedent(program)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_values_stamps_and_threads_take_no_file_id() -> None:
    typeset("""
        measure(0)
        draw(0)
        take_ids(65_450)
        measure(*range(150))
        for n in range(20):
            draw(n)
        for n in range(100):
            with ThreadPoolExecutor() as thread:
                thread.submit(measure, n).result()
    """)


def test_without_ids_typesetting_fails_as_anything_else_does() -> None:
    said = typeset("""
        try:
            take_ids(65_536)
        except BaseException as error:
            assert not isinstance(error, Exception)
        for work in (lambda: measure(1), lambda: draw(1)):
            try:
                work()
            except Exception as error:
                print(type(error).__name__, error)
    """)
    assert said.count("TypesettingError ") == 2, said


@pytest.mark.thorough
def test_a_hundred_thousand_values_in_one_process() -> None:
    said = typeset("""
        measure(*range(10_000))
        before = resident()
        measure(*range(10_000, 100_000))
        draw(1)
        print((resident() - before) // 2**20)
    """)
    assert int(said) < 64, f"{said} MiB more"


def test_a_panic_is_an_error_and_ends_nothing() -> None:
    class Panic(BaseException):
        """A panic as Typst raises it."""

    with pytest.raises(TypesettingError, match="out of file ids"), _panics_raised():
        raise Panic("out of file ids")
    with pytest.raises(KeyboardInterrupt), _panics_raised():
        raise KeyboardInterrupt
