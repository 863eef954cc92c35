"""Loading what libraries load lazily, before the sandbox closes off the file system.

It also makes the first job as fast as the next.
"""

import codecs
import io
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import pikepdf

from paraph.pdf.structure.pages import PageGeometry
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile
from paraph.pdf.untrusted.jobs.upload_checks import dry_run
from paraph.pdf.verification.pictures import DrawingTime, compare_pictures
from paraph.pdf.verification.signed_file import SignedFile
from paraph.pdf.verification.verify import verify

_ENCODINGS = ("ascii", "latin-1", "utf-8", "utf-16", "utf-16-be", "utf-16-le", "pdfdoc", "mac-roman", "cp1252", "idna")
_GEOMETRIES = [PageGeometry((0, 0, 50, 50), 0, 1)]
_CONTENTS = b"BT /F1 12 Tf 20 20 Td (a) Tj ET"


def warm_up(jobs: Mapping[str, Callable[..., Any]]) -> None:
    """Run each job once on a small file, and seal and verify it on trial."""
    look_up_encodings()
    open_random_source()
    pdf = _small()
    page: dict[str, Any] = {"page_number": 1}
    for job, arguments in (
        ("inspect", {"page_limit": 1}),
        ("find", {"tags": ["a", "\u05d0"]}),  # the second is Hebrew, which takes another path
        ("render", {**page, "scale": 1, "form": "webp"}),
        ("render", {**page, "scale": 1, "form": "png", "printed": True}),
        ("covered_words", {"places": [(1, 0, 0, 50, 50)]}),
        ("text", page),
    ):
        with UntrustedFile(content=pdf) as file:
            jobs[job](file, **arguments)
    verify_on_trial(pdf)


def verify_on_trial(pdf: bytes) -> tuple[bytes, bytes]:
    """Seal a file and seal it again, verify it, and ask pyHanko about it; return what was sealed once and twice."""
    datetime.strptime("2000Z", "%Y%z")  # imports a module when it is first called
    sealed = dry_run.sealed_on_trial(pdf, _GEOMETRIES, [0])
    sealed_again = dry_run.sealed_on_trial(sealed, _GEOMETRIES, [0])
    verify(sealed_again, [dry_run.trial_root()])
    compare_pictures(sealed, sealed_again, [], DrawingTime())
    file = SignedFile(sealed_again)
    file.objections(file.signatures[0])
    return sealed, sealed_again


def look_up_encodings() -> None:
    for name in _ENCODINGS:
        codecs.lookup(name)


def open_random_source() -> None:
    """Let qpdf open its source of random bytes, without which it reads no file that AES-256 encrypts."""
    pikepdf.new().save(io.BytesIO(), encryption=pikepdf.Encryption(user="", owner="a", R=6))


def _small() -> bytes:
    document = pikepdf.new()
    page = document.add_blank_page(page_size=(50, 50))
    font = pikepdf.Dictionary(Type=pikepdf.Name.Font, Subtype=pikepdf.Name.TrueType, BaseFont=pikepdf.Name.Elsewhere)
    page.obj.Resources = pikepdf.Dictionary(Font=pikepdf.Dictionary(F1=font))
    page.obj.Contents = document.make_stream(_CONTENTS)
    file = io.BytesIO()
    document.save(file, object_stream_mode=pikepdf.ObjectStreamMode.generate)  # for pyHanko to unpack
    return file.getvalue()
