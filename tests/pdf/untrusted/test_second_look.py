"""Pages whose looks no rule decides are drawn by a second renderer: a difference of a word is found."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pikepdf
import pytest
from pikepdf import Array, Name

from paraph.pdf.untrusted.inspect import second_look
from paraph.pdf.untrusted.sandbox import worker_environment
from tests import independent
from tests.pdf.pdf_factory import paper, text

SIZE = (595.0, 842.0)


def named_glyphs(*names: str, words: str) -> bytes:
    """A page with words in Helvetica in which A, B, … stand for the glyphs ``names``."""

    encoding = {"Type": Name.Encoding, "Differences": [65, *map(Name, names)]}
    font = {"Type": Name.Font, "Subtype": Name.Type1, "BaseFont": Name.Helvetica, "Encoding": encoding}
    drawn = text("I do", 100, 700) + f"BT /F2 12 Tf 130 700 Td ({words}) Tj ET"
    return paper(drawn, resources={"Font": {"F2": font}})


def test_a_word_that_one_renderer_leaves_out_is_found() -> None:
    independent.need("pdftoppm", "poppler-utils")
    pdf = named_glyphs("/uni004E", "/uni004F", "/uni0054", words="ABC")
    [place], over_text = second_look(pdf, [1], [SIZE], "")
    assert (place["page_number"], place["what"], over_text) == (1, "contents", [1])
    assert place["x"] < 130 and place["x"] + place["width"] > 150
    assert place["y"] < 700 and place["y"] + place["height"] > 708


def test_what_both_draw_alike_is_not() -> None:
    independent.need("pdftoppm", "poppler-utils")
    words = "".join(text("The landlord lets the flat to the tenant.", 72, y, 11) for y in range(80, 780, 14))
    pdf = named_glyphs("/N", "/O", "/T", words="ABC")
    assert second_look(pdf, [1], [SIZE], "") == ([], [])
    assert second_look(paper(words, words, words), [1, 3], [SIZE] * 3, "") == ([], [])


def test_a_page_that_cannot_be_compared_is_told_as_a_whole() -> None:
    """These are pages beyond the most that are looked at, and pages without a whole picture."""
    independent.need("pdftoppm", "poppler-utils")
    huge = (14_400.0, 14_400.0)

    def prepare(document: pikepdf.Pdf) -> None:
        document.pages[1].obj.MediaBox = Array([0, 0, *map(int, huge)])

    places, over_text = second_look(paper("", "", "", prepare=prepare), [1, 2, 3], [SIZE, huge, SIZE], "")
    assert [(place["page_number"], place["width"]) for place in places] == [(2, huge[0]), (3, SIZE[0])]
    assert over_text == []
    many = second_look(paper(*[""] * 30), list(range(1, 31)), [SIZE] * 30, "")
    assert [place["page_number"] for place in many[0]] == [25, 26, 27, 28, 29, 30]


@pytest.mark.parametrize(
    "attempt",
    [
        "import socket; socket.create_connection(('127.0.0.1', 9))",
        "import os; os.listdir('/root'); os.listdir('/home')",
        "import sys; open(sys.argv[1]).read(1)",
        "open('/tmp/left-behind', 'w').write('x')",
        "import os; os.fork()",
        "import sys; sys.stdout.write('x' * 2000)",
        "bytearray(1 << 30)",
        "all(x == 0 for x in iter(int, 1))",
    ],
)
def test_the_program_has_nothing_in_reach(attempt: str, tmp_path: Path) -> None:
    """Each attempt succeeds in a process that nothing confines, but for the last two, which take too much."""
    secret = tmp_path / "secret"
    secret.write_text("x")
    python = shutil.which("python3", path="/usr/bin") or pytest.skip(
        "/usr/bin/python3 is missing (Debian package python3)"
    )
    limits = map(str, (os.getpid(), 512 << 20, 1000, 1))
    confined = [sys.executable, "-P", "-m", "paraph.confinement.program", *limits]
    with tempfile.TemporaryFile() as output:
        script = f"print('running', flush=True); {attempt}; print('done', flush=True)"
        command = [*confined, python, "-I", "-S", "-c", script, str(secret)]
        environment = worker_environment()
        ended = subprocess.run(command, stdout=output, stderr=subprocess.DEVNULL, env=environment, check=False)
        output.seek(0)
        assert output.read().startswith(b"running") and ended.returncode != 0
