"""The form fields and signatures of an upload."""

from collections.abc import Iterator
from typing import Any

import pikepdf

from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.jobs.names import name_of

NO_FORMS = {"fields": 0, "xfa": False}
NO_SIGNATURES = {"count": 0, "certification": None, "usage_rights": False}

_MOST_FIELDS = 100_000


def read_form_fields(document: pikepdf.Pdf) -> dict[str, Any]:
    """Return ``{"fields": number, "xfa": bool}``. Raise PdfRefused ``dynamic_xfa``."""
    form = _dictionary(document.Root.get("/AcroForm"))
    xfa = "/XFA" in form
    if xfa and bool(document.Root.get("/NeedsRendering", False)):
        message = "The PDF is a dynamic XFA form, which has no fixed pages to sign; print it to a PDF first."
        raise PdfRefused("dynamic_xfa", message)
    return {"fields": sum(1 for _ in _fields(form)), "xfa": xfa}


def read_signatures(document: pikepdf.Pdf) -> dict[str, Any]:
    """Return ``{"count": number, "certification": null, "usage_rights": bool}``. Raise PdfRefused
    ``changes_forbidden`` if an earlier signature says which changes it permits (DocMDP, ISO 32000-2, table 257): at
    most filling in forms, signing fields that are there, and comments, and a seal with stamps is none of these."""
    signed = [field for field, kind in _fields(_dictionary(document.Root.get("/AcroForm"))) if kind == "/Sig"]
    values = [_dictionary(field.get("/V")) for field in signed]
    count = sum(1 for value in values if value)
    permissions = _dictionary(document.Root.get("/Perms"))
    certifying = [
        _dictionary(permissions.get("/DocMDP")),
        *values,
    ]  # the catalog may not name the certifying one
    locks = ["/P" in _dictionary(field.get("/Lock")) for field, value in zip(signed, values, strict=True) if value]
    if any(map(_certifies, certifying)) or any(locks):
        raise PdfRefused(
            "changes_forbidden", "The PDF has a signature that forbids any change, so it cannot be signed again."
        )
    return {"count": count, "certification": None, "usage_rights": "/UR3" in permissions}


def _certifies(signature: Any) -> bool:
    references = signature.get("/Reference")
    listed: Any = references if isinstance(references, pikepdf.Array) else []
    return any(_dictionary(reference).get("/TransformMethod") == "/DocMDP" for reference in listed)


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
