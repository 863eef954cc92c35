"""PDFs as a library: bytes in, bytes out, no Django, no settings, no service (docs/library.md has examples).

Untrusted files are read by ``inspect_pdf``, ``find_tags``, ``text_layer``, ``render_page``, ``verify_pdf`` and
``check_evidence`` in processes of their own with limits of memory and time. Lengths are points (1/72 inch) in reader
space: the page as a reader sees it, cropped, turned and scaled, with the origin at its bottom left. Times are aware.
Certificates and tokens are DER. Errors that a person must mend are raised as ``PdfRefused``, ``SealError`` or
``DomainError``, each with one sentence.

Each name is loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paraph.pdf.drawing.marks import Mark, Overlay
    from paraph.pdf.pki.certificate import Identity
    from paraph.pdf.pki.purpose import Purpose, document_purpose, proof_purpose
    from paraph.pdf.pki.statuses import DevelopmentStatuses, LongTerm
    from paraph.pdf.refusal import PdfRefused, ReadersUnavailable, SealError
    from paraph.pdf.report import EvidenceCheck, SealTimestamp, SignatureReport, Verification
    from paraph.pdf.sealing.seal import SealedPdf
    from paraph.pdf.sealing.seal import seal as seal_pdf
    from paraph.pdf.structure.pages import Rect
    from paraph.pdf.timestamps.authorities import BuiltInAuthority, HttpAuthority
    from paraph.pdf.timestamps.timestamp import Timestamp, TimestampAuthority, Timestamping, stamp_time
    from paraph.pdf.typesetting.appearances import Appearances, InitialsContent, StampContent
    from paraph.pdf.typesetting.appearances import appearances as draw_appearances
    from paraph.pdf.typesetting.proof import JournalLine, ProofContent, ProofDocument, ProofSeal, ProofSigner
    from paraph.pdf.typesetting.proof import proof as typeset_proof
    from paraph.pdf.untrusted.inspect import Inspection
    from paraph.pdf.untrusted.inspect import inspect as inspect_pdf
    from paraph.pdf.untrusted.page_reading import (
        FoundTag,
        TextLayer,
        Word,
        find_tags,
        render_page,
        render_png,
        text_layer,
    )
    from paraph.pdf.untrusted.page_reading import under as place_under
    from paraph.pdf.untrusted.verify import check_evidence
    from paraph.pdf.untrusted.verify import verify as verify_pdf

_HOMES = {
    "drawing.marks": "Mark Overlay",
    "pki.certificate": "Identity",
    "pki.purpose": "Purpose document_purpose proof_purpose",
    "pki.statuses": "DevelopmentStatuses LongTerm",
    "refusal": "PdfRefused ReadersUnavailable SealError",
    "report": "EvidenceCheck SealTimestamp SignatureReport Verification",
    "sealing.seal": "SealedPdf seal=seal_pdf",
    "structure.pages": "Rect",
    "timestamps.authorities": "BuiltInAuthority HttpAuthority",
    "timestamps.timestamp": "Timestamp TimestampAuthority Timestamping stamp_time",
    "typesetting.appearances": "Appearances InitialsContent StampContent appearances=draw_appearances",
    "typesetting.proof": "JournalLine ProofContent ProofDocument ProofSeal ProofSigner proof=typeset_proof",
    "untrusted.inspect": "Inspection inspect=inspect_pdf",
    "untrusted.page_reading": "FoundTag TextLayer Word find_tags render_page render_png text_layer under=place_under",
    "untrusted.verify": "check_evidence verify=verify_pdf",
}
"""The names that each module provides; after ``=`` the name that this package gives one of them."""
_NAMES = {
    name.rpartition("=")[2]: (home, name.partition("=")[0]) for home, names in _HOMES.items() for name in names.split()
}

__all__ = [
    "Appearances",
    "BuiltInAuthority",
    "DevelopmentStatuses",
    "EvidenceCheck",
    "FoundTag",
    "HttpAuthority",
    "Identity",
    "InitialsContent",
    "Inspection",
    "JournalLine",
    "LongTerm",
    "Mark",
    "Overlay",
    "PdfRefused",
    "ProofContent",
    "ProofDocument",
    "ProofSeal",
    "ProofSigner",
    "Purpose",
    "ReadersUnavailable",
    "Rect",
    "SealError",
    "SealTimestamp",
    "SealedPdf",
    "SignatureReport",
    "StampContent",
    "TextLayer",
    "Timestamp",
    "TimestampAuthority",
    "Timestamping",
    "Verification",
    "Word",
    "check_evidence",
    "document_purpose",
    "draw_appearances",
    "find_tags",
    "inspect_pdf",
    "place_under",
    "proof_purpose",
    "render_page",
    "render_png",
    "seal_pdf",
    "stamp_time",
    "text_layer",
    "typeset_proof",
    "verify_pdf",
]


def __getattr__(name: str) -> Any:
    """Import a name when it is asked for: sandboxed processes, which import this package, need few of them."""
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home, original = _NAMES[name]
    return getattr(import_module(f"{__name__}.{home}"), original)
