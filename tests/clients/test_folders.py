"""What the MCP server uploads: PDFs of folders that a person named, and nothing that a link or a name leads to."""

import os
from pathlib import Path

import pytest

from paraph_client import folders
from paraph_client.folders import read_pdf

PDF = b"%PDF-1.7 lease"


@pytest.fixture
def named(tmp_path: Path) -> Path:
    """Return a named folder with files and links, beside a folder that nobody named."""
    folder, elsewhere = tmp_path / "named", tmp_path / "named-not"
    for each in (folder, folder / "deep", elsewhere):
        each.mkdir()
    for each in (folder / "lease.pdf", folder / "deep" / "lease", elsewhere / "secret.pdf"):
        each.write_bytes(PDF)
    (folder / "id_rsa.pdf").write_bytes(b"-----BEGIN OPENSSH PRIVATE KEY-----")
    (folder / "late.pdf").write_bytes(b"\n" + PDF)
    (folder / "empty.pdf").touch()
    (folder / "inner.pdf").symlink_to("deep/lease")
    (folder / "outer.pdf").symlink_to("../named-not/secret.pdf")
    (folder / "absolute.pdf").symlink_to(elsewhere / "secret.pdf")
    (folder / "there").symlink_to(elsewhere)
    (folder / "loop.pdf").symlink_to("loop.pdf")
    os.mkfifo(folder / "pipe.pdf")
    return folder


@pytest.mark.parametrize("file", ["lease.pdf", "deep/lease", "./deep/../lease.pdf", "inner.pdf", "{}/lease.pdf"])
def test_pdfs_of_the_folder_are_read(named: Path, file: str) -> None:
    assert read_pdf(file.format(named), [named.parent / "named-not", named])[1] == PDF


@pytest.mark.parametrize(
    "file",
    [
        "../named-not/secret.pdf", "{}/../named-not/secret.pdf", "{}-not/secret.pdf", "outer.pdf", "absolute.pdf",
        "there/secret.pdf", "there/../named-not/secret.pdf", "/etc/passwd", "/no/such/file", "~/.ssh/id_rsa", "",
        "id_rsa.pdf", "late.pdf", "empty.pdf", "loop.pdf", "pipe.pdf", "deep", "missing.pdf", "lease.pdf\0.txt",
        "lease.pdf/x", "x" * 5000,
    ],
)  # fmt: skip
def test_nothing_else_is(named: Path, file: str) -> None:
    with pytest.raises(OSError):
        read_pdf(file.format(named), [named])


@pytest.mark.parametrize(
    ("file", "sentence"),
    [
        ("missing.pdf", "'missing.pdf' does not exist."),
        ("~/lease.pdf", "'~/lease.pdf' does not exist."),
        ("lease.pdf/x", "'lease.pdf/x' does not exist."),
        ("deep", "'deep' is a folder."),
        ("", "'' is a folder."),
        ("pipe.pdf", "'pipe.pdf' is no file."),
    ],
)
def test_what_is_wrong_is_told_of_the_path_as_it_was_given(named: Path, file: str, sentence: str) -> None:
    with pytest.raises(OSError) as refused:
        read_pdf(file, [named])
    assert str(refused.value) == sentence


def test_what_lies_elsewhere_is_told_alike_whether_it_exists_or_not(named: Path) -> None:
    told = []
    for file in ("../named-not/secret.pdf", "../named-not/missing"):
        with pytest.raises(PermissionError) as refused:
            read_pdf(file, [named])
        told.append(str(refused.value).replace(file, ""))
    assert told[0] == told[1]


def test_a_link_that_is_put_in_the_way_meanwhile_is_not_followed(named: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os.path, "realpath", str)  # as if the links were made after this check
    for file in ("outer.pdf", "there/secret.pdf"):
        with pytest.raises(OSError):
            read_pdf(file, [named])


def test_at_most_fifty_mebibytes(named: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert folders.LARGEST == 50 * 1024 * 1024
    monkeypatch.setattr(folders, "LARGEST", len(PDF))
    assert read_pdf("lease.pdf", [named])[0] == "lease.pdf"
    (named / "lease.pdf").write_bytes(PDF + b"x")
    with pytest.raises(PermissionError, match="is larger than"):
        read_pdf("lease.pdf", [named])


def test_without_a_folder_there_is_none_to_upload_from() -> None:
    with pytest.raises(PermissionError, match="--folder"):
        read_pdf("/etc/passwd", [])
