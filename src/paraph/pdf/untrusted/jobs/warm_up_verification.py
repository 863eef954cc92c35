"""Loading what libraries load lazily for a verification, before the sandbox closes off the file system."""

import io
import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import pikepdf

from paraph.pdf.structure.geometry import PageGeometry
from paraph.pdf.typesetting.proof import EVIDENCE
from paraph.pdf.untrusted.jobs.upload_checks import dry_run
from paraph.pdf.untrusted.jobs.warm_up import look_up_encodings
from paraph.pdf.verification.pictures import DrawingTime, compare_pictures

_GEOMETRIES = [PageGeometry((0, 0, 50, 50), 0, 1)]
_EVIDENCE = {"format": "paraph-evidence/1", "request": {}, "journal": [], "signers": [], "documents": []}


def warm_up_verification(jobs: Mapping[str, Callable[..., Any]]) -> None:
    """Verify a file that was sealed, and sealed again, and check evidence."""
    look_up_encodings()
    datetime.strptime("2000Z", "%Y%z")  # imports a module when it is first called
    proof = _with_evidence()
    sealed = dry_run.sealed_on_trial(proof, _GEOMETRIES, [0])
    sealed_again = dry_run.sealed_on_trial(sealed, _GEOMETRIES, [0])
    trust: dict[str, Any] = {"roots": [], "signers": []}
    jobs["verify"]([sealed_again], timestamps=[], **trust)
    jobs["check_evidence"]([proof, sealed], names=["proof", "signed"], timestamps={}, **trust)
    jobs["carries_evidence"]([proof])
    jobs["altered_seals"]([sealed_again], roots=[])
    jobs["timestamps"]([b"{}"], digests=["00"])
    compare_pictures(sealed, sealed_again, [], DrawingTime())


def _with_evidence() -> bytes:
    document = pikepdf.new()
    page = document.add_blank_page(page_size=(50, 50))
    font = pikepdf.Dictionary(Type=pikepdf.Name.Font, Subtype=pikepdf.Name.Type1, BaseFont=pikepdf.Name.Helvetica)
    page.obj.Resources = pikepdf.Dictionary(Font=pikepdf.Dictionary(F1=font))
    page.obj.Contents = document.make_stream(b"BT /F1 12 Tf 20 20 Td (a) Tj ET")
    document.attachments[EVIDENCE] = _attachment(document)
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def _attachment(document: pikepdf.Pdf) -> pikepdf.AttachedFileSpec:
    text = dict.fromkeys(("filename", "description", "mime_type", "creation_date", "mod_date"), "")
    return pikepdf.AttachedFileSpec(document, json.dumps(_EVIDENCE).encode(), **text)
