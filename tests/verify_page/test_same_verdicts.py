"""The page's verdicts are those of ``paraph verify``, on altered files, on files of others, and on hostile ones."""

import json
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from paraph.kernel import places
from tests.pdf.verification.test_evidence_check_seals import issued_before
from tests.production import Client
from tests.verify_page.test_page import ROOT, printed

pytestmark = pytest.mark.django_db
_addresses = count(1)


@pytest.fixture(autouse=True)
def root(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(settings.PARAPH, "verify_roots", ROOT)
    return ROOT


def answered(files: Mapping[str, bytes]) -> list[dict[str, Any]]:
    """From an address of its own."""
    sent = [SimpleUploadedFile(name, content) for name, content in files.items()]
    number = next(_addresses)
    response = Client(REMOTE_ADDR=f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}").post(
        "/verify", {"file": sent}, headers={"Accept": "application/json"}
    )
    assert response.status_code == 200, response.content
    return [json.loads(line) for line in response.content.splitlines()]


def mutants(seed: int) -> Iterator[dict[str, bytes]]:
    """A proof and its files, of which a byte of one is another."""
    chance = Random(seed)
    while True:
        files = issued_before()
        name = chance.choice(sorted(files))
        content = bytearray(files[name])
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        yield files | {name: bytes(content)}


@pytest.mark.parametrize("many", [6, pytest.param(200, marks=pytest.mark.thorough)])
def test_of_altered_files(many: int, tmp_path: Path) -> None:
    for _, files in zip(range(many), mutants(39), strict=False):
        same = printed(files, tmp_path)
        if "sealed" in same[0] and not same[0]["sealed"] and same[0]["sub_indication"] == "SIGNED_DATA_NOT_FOUND":
            same = printed(files, tmp_path, "--each")
        assert answered(files) == same


def test_hostile_files_end_with_a_sentence() -> None:
    """Also beside another file, as only then the evidence in it is read."""
    alone = {"proof.pdf": b"%PDF-1.7\n" + b"[" * 100_000}
    for [found, *_] in map(answered, (alone, alone | {"signed.pdf": issued_before()["signed.pdf"]})):
        assert found["indication"] != "TOTAL-PASSED" and (found.get("findings") or found["problems"])


def test_all_visitors_share_the_places_of_one_organization() -> None:
    """In a web process, work on behalf of nobody would be refused."""
    places.configure(8)
    try:
        assert answered({"signed.pdf": issued_before()["signed.pdf"]})[0]["ok"]
    finally:
        places.configure(None)
