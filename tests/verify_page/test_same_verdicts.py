"""The page gives the verdicts of ``paraph verify`` on altered files, on files of other makers, and on hostile ones."""

import csv
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import chain, count
from pathlib import Path
from random import Random
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from django.core.files.uploadedfile import SimpleUploadedFile

from lab.fuzz.altered.authorities import authority
from lab.fuzz.altered.covers import NotSealed
from lab.fuzz.altered.known import NotHere
from lab.fuzz.altered.recipes import altered
from lab.fuzz.altered.rows import ROWS
from paraph.evidence.models import ProofFile, SealedDocument
from paraph.kernel import places
from paraph.storage import store
from tests.bundle.bundles import finished
from tests.fuzz.test_legitimate import sealed_of_corpus
from tests.pdf import hostile_proofs
from tests.pdf.pdf_factory import flipped
from tests.pdf.verification.test_evidence_check import issued_before
from tests.production import Client
from tests.verify_page.test_page import ROOT, printed

pytestmark = pytest.mark.django_db
_CORPUS = os.environ.get("PARAPH_CORPUS", "")
_FOLDER = Path(_CORPUS or "/nowhere").parent / "signed"
_addresses = count(1)


@pytest.fixture(autouse=True)
def root(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(settings.PARAPH, "verify_roots", ROOT)
    return ROOT


def answered(files: Mapping[str, bytes]) -> list[dict[str, Any]]:
    """Return the page's verdicts, asked from a new address each time because of the limit for each address."""
    sent = [SimpleUploadedFile(name, content) for name, content in files.items()]
    number = next(_addresses)
    response = Client(REMOTE_ADDR=f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}").post(
        "/verify", {"file": sent}, headers={"Accept": "application/json"}
    )
    assert response.status_code == 200, response.content
    return [json.loads(line) for line in response.content.splitlines()]


def mutants(seed: int) -> Iterator[dict[str, bytes]]:
    """Yield a proof and its files with one bit of one of them flipped."""
    chance = Random(seed)
    while True:
        files = issued_before()
        name = chance.choice(sorted(files))
        changed = flipped(files[name], chance.randrange(len(files[name])), 1 << chance.randrange(8))
        yield files | {name: changed}


@pytest.mark.parametrize("many", [6, pytest.param(200, marks=pytest.mark.thorough)])
def test_of_altered_files(many: int, tmp_path: Path) -> None:
    for _, files in zip(range(many), mutants(39), strict=False):
        same = printed(files, tmp_path)
        if "sealed" in same[0] and not same[0]["sealed"] and same[0]["sub_indication"] == "SIGNED_DATA_NOT_FOUND":
            same = printed(files, tmp_path, "--each")
        assert answered(files) == same


@pytest.mark.thorough
def test_of_what_was_found_by_the_fuzz(settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    own = x509.load_der_x509_certificate(authority().root).public_bytes(Encoding.PEM)
    (tmp_path / "own.pem").write_bytes(own)
    monkeypatch.setattr(settings.PARAPH, "verify_roots", tmp_path / "own.pem")
    looked_at = 0
    for recipe in chain.from_iterable(ROWS.values()):
        with suppress(NotHere, NotSealed):
            files = {"a.pdf": altered(recipe).content}
            assert answered(files) == printed(files, tmp_path, root=tmp_path / "own.pem"), recipe
            looked_at += 1
    assert looked_at > 300


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::UserWarning")  # cryptography warns about malformed certificates
@pytest.mark.skipif(not (_FOLDER / "expected.tsv").is_file(), reason="PARAPH_CORPUS has no signed files beside it")
def test_of_files_of_others(tmp_path: Path) -> None:
    with (_FOLDER / "expected.tsv").open() as table:
        rows = list(csv.DictReader(table, delimiter="\t"))
    assert rows
    for row in rows:
        files = {"a.pdf": (_FOLDER / row["file"]).read_bytes()}
        assert answered(files) == printed(files, tmp_path), row["file"]


def test_of_the_demo_s_files(settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The files are those that `make demo` makes: a document with two signers, under the roots that the page offers."""
    made, roots = finished(signers=2), tmp_path / "roots.pem"
    [document] = SealedDocument.objects.filter(request_document__request=made.request)
    keys = {"uploaded.pdf": document.request_document.document.object_key, "signed.pdf": document.object_key}
    keys["proof.pdf"] = ProofFile.objects.get(request=made.request).object_key
    files = {name: store.get(key) for name, key in keys.items()}
    monkeypatch.setattr(settings.PARAPH, "verify_roots", None)
    roots.write_bytes(Client().get("/verify/roots.pem").content)
    [found] = answered(files)
    assert [found] == printed(files, tmp_path, root=roots)
    assert found["ok"] and list(found["sealed"]) == ["proof.pdf", "signed.pdf"] and not found["problems"]
    for name, content in files.items():
        assert answered({name: content}) == printed({name: content}, tmp_path, root=roots)


@pytest.mark.thorough
@pytest.mark.skipif(not _CORPUS, reason="PARAPH_CORPUS names no folder of PDFs")
def test_of_the_corpus_sealed(settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each file that can be sealed is verified as it is, and with one byte in the middle changed."""
    own = tmp_path / "own.pem"
    own.write_bytes(x509.load_der_x509_certificate(authority().root).public_bytes(Encoding.PEM))
    monkeypatch.setattr(settings.PARAPH, "verify_roots", own)
    paths, held = sorted(Path(_CORPUS).rglob("*.pdf")), 0
    for path in paths:
        content = sealed_of_corpus(path.read_bytes())
        if content is None:
            continue
        for each in (content, flipped(content, len(content) // 2)):
            files = {"a.pdf": each}
            [found] = answered(files)
            assert [found] == printed(files, tmp_path, root=own), path
            held += found["indication"] == "TOTAL-PASSED"
            assert each is content or found["indication"] != "TOTAL-PASSED", path
    assert held >= 0.9 * len(paths)


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(lambda: b"%PDF-1.7\n" + b"[" * 100_000, id="brackets"),
        pytest.param(hostile_proofs.nested, marks=pytest.mark.thorough, id="nested"),
        pytest.param(lambda: hostile_proofs.deflated(1), marks=pytest.mark.thorough, id="gigabytes"),
        pytest.param(hostile_proofs.pages_of_one_text, marks=pytest.mark.thorough, id="pages"),
    ],
)
def test_hostile_files_end_with_a_sentence(made: Callable[[], bytes]) -> None:
    """Each is tried beside another file too, as only then its evidence is read."""
    alone, beside = {"proof.pdf": made()}, {"proof.pdf": made(), "signed.pdf": issued_before()["signed.pdf"]}
    for [found, *_] in map(answered, (alone, beside)):
        assert found["indication"] != "TOTAL-PASSED" and (found.get("findings") or found["problems"])


def test_all_visitors_share_the_places_of_one_organization() -> None:
    """A web process would refuse work that belongs to no organization."""
    places.configure(8)
    try:
        assert answered({"signed.pdf": issued_before()["signed.pdf"]})[0]["ok"]
    finally:
        places.configure(None)
