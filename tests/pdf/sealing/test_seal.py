"""Seals as other programs see them: poppler, OpenSSL and qpdf."""

import hashlib
import io
import subprocess
from pathlib import Path

import pikepdf
import pytest

from paraph.keys import KeyKind
from paraph.pdf.sealing.seal import Mark, Overlay, SealedPdf, SealError
from paraph.pdf.untrusted.sandboxed_draft import sandboxed_drafts
from tests import independent
from tests.pdf.pdf_factory import paper, text
from tests.pdf.refused import with_integrity_code
from tests.pdf.sealed_files import (
    GREEN,
    RED,
    WATERMARK,
    assert_trusted,
    authority,
    pictures,
    root_file,
    sealed,
    timestamping,
)
from tests.pdf_parts import signature_and_token

LETTER = paper(text("To whom it may concern", 72, 700), text("Second page", 72, 700))
MARKS = [Mark(1, 100, 100, 100, 50, RED), Mark(2, 10, 20, 50, 25, GREEN)]


def whole(kind: KeyKind = "p-256", timestamped: bool = True) -> SealedPdf:
    return sealed(
        LETTER,
        key=authority(kind).sealing_key,
        timestamping=timestamping() if timestamped else None,
        appearances=pictures(),
        marks=MARKS,
        page_overlay=Overlay(WATERMARK),
        reason="Signed (by all)",
        name="Ünïon 株式会社",
    )


@pytest.mark.parametrize("kind", ["p-256", "rsa-3072"])
@pytest.mark.parametrize("timestamped", [False, True])
def test_poppler_trusts_the_seal(kind: KeyKind, timestamped: bool, tmp_path: Path) -> None:
    result = whole(kind, timestamped)
    assert_trusted(result.content, tmp_path, kind=kind)
    assert (result.timestamp is not None) == timestamped
    assert result.method == "incremental"
    assert result.content.startswith(LETTER)
    assert result.sha256 == hashlib.sha256(result.content).digest()
    assert result.signing_algorithm == authority(kind).sealing_key.algorithm
    assert result.kms_key_id == authority(kind).sealing_key.key_id


@pytest.mark.parametrize("kind", ["p-256", "rsa-3072"])
def test_openssl_verifies_cms_and_timestamp(kind: KeyKind, tmp_path: Path) -> None:
    content = whole(kind).content
    signature, token = signature_and_token(content)
    openssl = independent.need("openssl", "openssl")
    cms, signed = tmp_path / "seal.der", tmp_path / "signed.bin"
    start = content.rindex(b"/Contents <") + len(b"/Contents ")
    end = content.index(b">", start) + 1
    cms.write_bytes(bytes.fromhex(content[start + 1 : end - 1].decode()))
    signed.write_bytes(content[:start] + content[end:])
    command: list[str | Path] = [
        openssl,
        *["cms", "-verify", "-cades", "-binary", "-inform", "DER", "-in"],
        cms,
        "-content",
        signed,
    ]
    trust: list[str | Path] = ["-CAfile", root_file(tmp_path, kind), "-purpose", "any", "-out", tmp_path / "out"]
    done = subprocess.run([*command, *trust], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "CAdES Verification successful" in done.stderr
    independent.assert_timestamped(token, signature, root_file(tmp_path), tmp_path)


def test_a_mark_on_a_page_that_does_not_exist_is_refused() -> None:
    with pytest.raises(SealError, match="page 3"):
        sealed(LETTER, appearances=pictures(), marks=[Mark(3, 0, 0, 10, 10, RED)])


def test_the_hash_of_the_caller_serves_and_is_checked(tmp_path: Path) -> None:
    known = sealed(LETTER, hashed=hashlib.sha256(LETTER), drafts=sandboxed_drafts)
    assert_trusted(known.content, tmp_path)
    assert known.sha256 == hashlib.sha256(known.content).digest()
    with pytest.raises(SealError):
        sealed(LETTER, hashed=hashlib.sha256(LETTER + b" "), drafts=sandboxed_drafts)


@pytest.mark.parametrize("tabs", ["", "/S", "/R", "/Unstructured"])
@pytest.mark.parametrize("signed", [False, True])
def test_pages_of_tagged_files_that_get_an_annotation_are_ordered_by_structure(tabs: str, signed: bool) -> None:
    def prepare(document: pikepdf.Pdf) -> None:
        document.Root.StructTreeRoot = document.make_indirect(pikepdf.Dictionary(Type=pikepdf.Name.StructTreeRoot))
        for each in document.pages if tabs else ():
            each.obj.Tabs = pikepdf.Name(tabs)

    pages = [text("one", 50, 50), text("two", 50, 50)]
    marks = {"appearances": pictures(), "marks": [Mark(1, 10, 10, 100, 50, RED)], "timestamping": timestamping()}
    whole = sealed(paper(*pages, prepare=prepare), **marks).content
    if signed:
        whole = sealed(whole, **marks).content
    with pikepdf.open(io.BytesIO(whole)) as document:
        first, second = document.pages
        assert first.obj.Tabs == "/S" and len(first.obj.Annots) == 1 + signed
        assert second.obj.get("/Tabs", "") == tabs and "/Annots" not in second.obj
    untagged = paper(*pages, page={"/Tabs": pikepdf.Name(tabs)} if tabs else {})
    with pikepdf.open(io.BytesIO(sealed(untagged, **marks).content)) as document:
        assert all(each.obj.get("/Tabs", "") == tabs for each in document.pages)


def test_a_file_with_an_integrity_code_is_not_sealed() -> None:
    with pytest.raises(SealError, match="integrity code"):
        sealed(with_integrity_code())
