"""Independent programs that judge the files we sealed: poppler's pdfsig, qpdf, OpenSSL."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from asn1crypto import cms

_BYTE_RANGE = re.compile(rb"/ByteRange\s*\[\s*(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s*\]")


def need(program: str, package: str) -> str:
    """Return the program's path. Skip the test where Debian's ``package`` is not installed."""
    path = shutil.which(program)
    if not path:
        pytest.skip(f"{program} is missing (Debian package {package})")
    return path


def openssl(*words: str | Path, folder: Path | None = None) -> str:
    """Run OpenSSL in a folder. Return all that it prints, in which its verdict stands, whatever the exit status."""
    done = subprocess.run([need("openssl", "openssl"), *words], cwd=folder, capture_output=True, check=False)
    return (done.stdout + done.stderr).decode(errors="replace")


def pdfsig(pdf: Path, root_pem: Path) -> str:
    """Return the output of pdfsig, with the root in an NSS store of its own.

    pdfsig ends with 0 even for a digest mismatch: read its output.
    """
    need("pdfsig", "poppler-utils")
    certutil = need("certutil", "libnss3-tools")
    store = pdf.with_name(f"{pdf.stem}-nss")
    if not store.exists():  # for an existing store, certutil would wait for a password for ever
        store.mkdir()
        _run(certutil, "-N", "-d", f"sql:{store}", "--empty-password")
    _run(certutil, "-A", "-d", f"sql:{store}", "-n", "root", "-t", "CT,C,C", "-i", str(root_pem))
    return _run("pdfsig", "-nssdir", f"sql:{store}", str(pdf))


def assert_sealed(pdf: Path, root_pem: Path, signatures: int = 1) -> None:
    """Assert that poppler finds the signatures valid, trusted and whole, and qpdf the file sound."""
    said = pdfsig(pdf, root_pem)
    assert said.count("Signature Validation: Signature is Valid.") == signatures, said
    assert said.count("Certificate Validation: Certificate is Trusted.") == signatures, said
    assert "Total document signed" in said, said
    _run(need("qpdf", "qpdf"), "--check", str(pdf))


def assert_cades(pdf: Path, root_pem: Path, signature: int = -1) -> None:
    """Assert that OpenSSL finds the CMS of the last signature, or another, to be valid CAdES over its byte range, under
    the root."""
    content = pdf.read_bytes()
    start, before, after, rest = (int(number) for number in _BYTE_RANGE.findall(content)[signature])
    cms, covered = pdf.with_suffix(".cms"), pdf.with_suffix(".covered")
    cms.write_bytes(bytes.fromhex(content[before + 1 : after - 1].decode()))
    covered.write_bytes(content[start : start + before] + content[after : after + rest])
    said = openssl(
        "cms", "-verify", "-cades", "-binary", "-inform", "DER", "-in", cms, "-content", covered,
        "-CAfile", root_pem, "-purpose", "any", "-out", pdf.with_suffix(".out"),
    )  # fmt: skip
    assert "CAdES Verification successful" in said, said


def assert_timestamped(token: bytes, signature: bytes, root_pem: Path, folder: Path) -> None:
    """Assert that OpenSSL finds the RFC 3161 token valid for these signature bytes, by an authority under the root."""
    (folder / "token.der").write_bytes(token)
    (folder / "signature.bin").write_bytes(signature)
    about = ("-in", "token.der", "-data", "signature.bin", "-CAfile", root_pem)
    said = openssl("ts", "-verify", "-token_in", *about, folder=folder)
    assert "Verification: OK" in said, said


def signature_and_token(pdf: bytes) -> tuple[bytes, bytes]:
    """Return the signature value of the last seal, and the RFC 3161 token over it in DER."""
    contents = re.findall(rb"(?s)/ETSI.CAdES.detached.*?/Contents\s*<([0-9A-Fa-f]+)>", pdf)[-1]
    information = cms.ContentInfo.load(bytes.fromhex(contents.decode()))
    signer = information["content"]["signer_infos"][0]
    token = next(attribute for attribute in signer["unsigned_attrs"] if attribute["type"].dotted.endswith(".9.16.2.14"))
    return signer["signature"].native, token["values"][0].dump()


def page_text(pdf: Path) -> str:
    """The text of all pages, as poppler reads it."""
    return _run(need("pdftotext", "poppler-utils"), "-layout", str(pdf), "-")


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, check=False, timeout=120)
    said = (done.stdout + done.stderr).decode(errors="replace")
    assert done.returncode == 0, f"{command[0]} ended with {done.returncode}: {said}"
    return said
