"""The form fields and signatures of an upload."""

from collections.abc import Iterator
from typing import Any

import pikepdf

from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.jobs.names import name_of

NO_FORMS = {"fields": 0, "xfa": False}
NO_SIGNATURES = {"count": 0, "certification": None, "usage_rights": False}

_MOST_FIELDS = 100_000
_FORBIDDING = 1  # DocMDP level: no changes are permitted (ISO 32000-2, table 257)


def read_form_fields(document: pikepdf.Pdf) -> dict[str, Any]:
    """Return ``{"fields": number, "xfa": bool}``. Raise PdfRefused ``dynamic_xfa``."""
    form = _dictionary(document.Root.get("/AcroForm"))
    xfa = "/XFA" in form
    if xfa and bool(document.Root.get("/NeedsRendering", False)):
        message = "The PDF is a dynamic XFA form, which has no fixed pages to sign; print it to a PDF first."
        raise PdfRefused("dynamic_xfa", message)
    return {"fields": sum(1 for _ in _fields(form)), "xfa": xfa}


def read_signatures(document: pikepdf.Pdf) -> dict[str, Any]:
    """Return ``{"count": number, "certification": DocMDP level or null, "usage_rights": bool}``. Raise PdfRefused
    ``changes_forbidden`` if any change would invalidate an earlier signature."""
    signed = [field for field, kind in _fields(_dictionary(document.Root.get("/AcroForm"))) if kind == "/Sig"]
    values = [_dictionary(field.get("/V")) for field in signed]
    count = sum(1 for value in values if value)
    permissions = _dictionary(document.Root.get("/Perms"))
    certifying = [
        _dictionary(permissions.get("/DocMDP")),
        *values,
    ]  # the catalog may not name the certifying one
    certification = min(filter(None, map(_certification, certifying)), default=None)
    locks = [_dictionary(field.get("/Lock")).get("/P") for field, value in zip(signed, values, strict=True) if value]
    if certification == _FORBIDDING or _FORBIDDING in locks:
        raise PdfRefused(
            "changes_forbidden", "The PDF has a signature that forbids any change, so it cannot be signed again."
        )
    return {"count": count, "certification": certification, "usage_rights": "/UR3" in permissions}


def _certification(signature: Any) -> int | None:
    references = signature.get("/Reference")
    for reference in references if isinstance(references, pikepdf.Array) else []:
        if _dictionary(reference).get("/TransformMethod") == "/DocMDP":
            level = _dictionary(reference.get("/TransformParams")).get("/P", 2)
            return int(level) if isinstance(level, int) else 2
    return None


def _fields(form: Any) -> Iterator[tuple[Any, str]]:
    """Yield terminal fields with their inherited type. A malformed tree ends the walk without an error."""
    top = form.get("/Fields")
    left = [(field, "") for field in top] if isinstance(top, pikepdf.Array) else []
    seen: set[tuple[int, int]] = set()
    while left and len(seen) < _MOST_FIELDS:
        field, kind = left.pop()
        if not isinstance(field, pikepdf.Dictionary) or field.objgen in seen:
            continue
        if field.is_indirect:
            seen.add(field.objgen)
        kind = name_of(field.get("/FT"), kind)
        kids = field.get("/Kids")
        children = [kid for kid in kids if "/T" in _dictionary(kid)] if isinstance(kids, pikepdf.Array) else []
        left += [(kid, kind) for kid in children]
        if not children:
            yield field, kind


def _dictionary(value: Any) -> Any:
    return value if isinstance(value, pikepdf.Dictionary) else {}
