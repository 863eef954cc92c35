"""A file at the beginning of a body is taken as Django's parser takes it, wherever the body is cut into pieces."""

import io
import random
from typing import Any

import pytest
from django.core.files.uploadhandler import FileUploadHandler
from django.http.multipartparser import MultiPartParser

from paraph.api.v1 import multipart as reading
from paraph.api.v1.multipart import FilePart, UploadBody, copy_content, delimiter_of, ends
from tests.api.v1.test_documents import multipart, pdf_part

TYPE = "multipart/form-data; boundary=x"


class Collecting(FileUploadHandler):
    chunk_size = 64 * 1024

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[FilePart, bytes]] = []

    def new_file(self, field_name: str, file_name: str, content_type: str, *_rest: Any) -> None:
        self.found.append((FilePart(field_name, file_name, content_type.lower()), b""))

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        part, content = self.found[-1]
        self.found[-1] = part, content + raw_data

    def file_complete(self, file_size: int) -> None:
        """Nothing is left to do."""


def by_django(body: io.BytesIO | UploadBody) -> list[tuple[FilePart, bytes]]:
    handler = Collecting()
    stream: Any = body
    MultiPartParser({"CONTENT_TYPE": TYPE, "CONTENT_LENGTH": "1"}, stream, [handler], "utf-8").parse()
    return handler.found


def leading(content: bytes, piece: int = reading.PIECE) -> tuple[list[tuple[FilePart, bytes]], bool]:
    """The files, and whether the first one was all there is."""
    body, delimiter, written = UploadBody(io.BytesIO(content)), delimiter_of(TYPE), io.BytesIO()
    assert delimiter
    part = reading.leading_file(body, delimiter)
    if part is None:
        return by_django(body), False
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "PIECE", piece)
        assert copy_content(body, delimiter, written.write)
        alone = ends(body, delimiter)
    return [(part, written.getvalue()), *([] if alone else by_django(body))], alone


_PIECES = [b"\r", b"\n", b"\r\n", b"-", b"--", b"--y", b"\r\n--", b"x", b"%PDF-1.7", b"0" * 40]


def test_whatever_the_file_holds() -> None:
    chance = random.Random(7)
    for _ in range(1000):
        held = b"%PDF" + b"".join(chance.choices(_PIECES, k=chance.randint(0, 12)))
        several = [(pdf_part(name), held) for name in chance.choice([["file"], ["file"], ["file", "other"]])]
        end = chance.choice([b"--x--\r\n", b"--x--", b"--x--\r\nmore--", b"--x\r\n\r\n--x--"])
        body = multipart(*several, end=end)
        found, alone = leading(body, chance.choice([1, 2, 3, 5, 8, 90, 4096]))
        assert found == by_django(io.BytesIO(body)), body
        assert alone == (len(several) == 1 and end in (b"--x--\r\n", b"--x--") and b"--x" not in held), body


def test_the_usual_body_is_read_to_its_end() -> None:
    found, alone = leading(multipart((pdf_part(), b"held")))
    assert (found, alone) == ([(FilePart("file", "a.pdf", "application/pdf"), b"held")], True)


@pytest.mark.parametrize(
    "head",
    [
        pdf_part(filename='filename="../a.pdf"'),
        pdf_part(filename='filename="&amp;.pdf"'),
        pdf_part(filename='filename=".."'),
        pdf_part(filename="filename*=UTF-8''a.pdf"),
        pdf_part(filename='filename="é.pdf"'),
        pdf_part(filename=f'filename="{"a" * 256}"'),
        pdf_part() + "\r\nContent-Transfer-Encoding: base64",
        'Content-Type: application/pdf\r\nContent-Disposition: form-data; name="file"; filename="a.pdf"',
        'Content-Disposition: form-data; name="file"; filename="a.pdf"',
        'Content-Disposition: form-data; name="note"',
    ],
)
def test_what_is_not_said_plainly_is_left_to_django(head: str) -> None:
    body = multipart((head, b"held"), (pdf_part(), b"held"))
    assert leading(body) == (by_django(io.BytesIO(body)), False)


def test_a_file_that_never_ends() -> None:
    body = UploadBody(io.BytesIO(multipart((pdf_part(), b"held"), end=b"")))
    assert reading.leading_file(body, b"--x")
    assert not copy_content(body, b"--x", io.BytesIO().write)


@pytest.mark.parametrize(
    ("content_type", "delimiter"),
    [
        (TYPE, b"--x"),
        ("multipart/form-data;boundary=a'b-c", b"--a'b-c"),
        ('multipart/form-data; boundary="x"', None),
        ("multipart/form-data; charset=utf-8; boundary=x", None),
        ("multipart/form-data; boundary=x ", None),
        ("multipart/form-data", None),
        ("multipart/form-data; boundary=é", None),
    ],
)
def test_plain_boundaries(content_type: str, delimiter: bytes | None) -> None:
    assert delimiter_of(content_type) == delimiter
