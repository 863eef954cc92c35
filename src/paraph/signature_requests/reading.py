"""One request with its signers, documents and branding profile, in one round trip.

Four small statements go out together. They are written by the ORM, once for the life of the process: building
them anew took most of the time of a read.
"""

from functools import cache
from typing import Any, TypeVar

from django.db import connection
from django.db.models import Model, QuerySet

from paraph.organizations.models import BrandingProfile
from paraph.organizations.scope import Caller, scoped
from paraph.signature_requests.models import RequestDocument, SignatureRequest, Signer

Row = TypeVar("Row", bound=Model)

LARGE = ("signature", "initials")  # of a signer; nobody reads a list for their strokes

# Values that the written statements hold where those of a call will stand.
_NAMES: dict[object, str] = {-101: "organization", "-environment-": "environment", -103: "request"}
_NOBODY = Caller(-101, "-environment-", "", 0)


def read(caller: Caller, request_id: int) -> SignatureRequest | None:
    """The caller's request with ``signers``, ``request_documents`` and ``branding_profile`` loaded."""
    values: dict[str, int | str] = {
        "organization": caller.organization_id,
        "environment": caller.environment,
        "request": request_id,
    }
    with connection.cursor() as cursor:
        cursor.execute("; ".join(_statements()), values)
        results = [cursor.fetchall()]
        while cursor.nextset():
            results.append(cursor.fetchall())
    requests, signers, documents, profiles = results
    if not requests:
        return None
    request = _made(SignatureRequest, requests)[0]
    request.branding_profile = _made(BrandingProfile, profiles)[0] if profiles else None
    loaded: Any = request  # Django's own place for rows that are already here
    loaded._prefetched_objects_cache = {
        "signers": _made(Signer, signers),
        "request_documents": _made(RequestDocument, documents),
    }
    return request


@cache
def _statements() -> tuple[str, ...]:
    request = scoped(SignatureRequest, _NOBODY).filter(pk=-103)
    return (
        _written(request),
        _written(Signer.objects.filter(request__in=request)),
        _written(RequestDocument.objects.filter(request__in=request)),
        _written(BrandingProfile.objects.filter(pk__in=request.values("branding_profile_id"))),
    )


def _written(rows: QuerySet[Row]) -> str:
    """The statement with a name in place of each value."""
    model: type[Model] = rows.model
    statement, values = rows.values_list(*_columns(model)).query.sql_with_params()
    return statement % tuple(f"%({_NAMES[value]})s" for value in values)


def _made(model: type[Row], rows: list[tuple[Any, ...]]) -> list[Row]:
    return [model.from_db("default", _columns(model), row) for row in rows]


@cache
def _columns(model: type[Model]) -> list[str]:
    return [field.attname for field in model._meta.concrete_fields if field.attname not in LARGE]
