"""Variants of the shape of a creation, whose fields are those of the creation."""

from collections.abc import Collection
from copy import copy
from typing import Annotated, Any, get_args

from pydantic import BaseModel, Field, ValidatorFunctionWrapHandler, WrapValidator, create_model

from paraph.signature_requests.input import (
    MOST_DOCUMENTS,
    MOST_SIGNERS,
    Assignment,
    DocumentInput,
    SignatureRequestInput,
    SignerInput,
)
from paraph.signature_requests.input_types import Entry, OrNull

OPTIONS = tuple(name for name in SignatureRequestInput.model_fields if name not in ("signers", "documents"))
"""What a creation says beside who signs what."""


def fields_of(shape: type[BaseModel], names: Collection[str], *, optional: bool = False) -> dict[str, Any]:
    """Return the fields of those names as :func:`pydantic.create_model` takes them; ``optional``: each may be absent or
    null, and is null then."""
    fields: dict[str, Any] = {}
    for name in names:
        field = copy(shape.model_fields[name])
        kind: Any = field.annotation
        if optional:
            for each in field.metadata:
                kind = kind if each is OrNull else Annotated[kind, each]
            kind = kind if type(None) in get_args(kind) else kind | None
            field.default, field.metadata, field.default_factory = None, [], None
        fields[name] = (kind, field)
    return fields


def options_of(value: dict[str, Any]) -> dict[str, Any]:
    """Return the options that a value names; null counts as absent."""
    return {name: value[name] for name in OPTIONS if value.get(name) is not None}


PERSON = ("first_name", "last_name", "email", "phone")

PartialSigner: Any = create_model(
    "PartialSigner", __base__=SignerInput, **fields_of(SignerInput, ("ref", *PERSON[:3]), optional=True)
)
_SIGNERS: Any = list[Entry[PartialSigner]]


def is_nobody(names: Collection[str]) -> bool:
    """Whether a signer for whom these fields are given is nobody yet."""
    return set(PERSON).isdisjoint(names)


def _whole_or_nobody(value: Any, read: ValidatorFunctionWrapHandler) -> Any:
    return read(value) if not isinstance(value, dict) or is_nobody(value) else SignerInput.model_validate(value)


_SIGNERS_OR_NOBODY: Any = list[Entry[Annotated[PartialSigner, WrapValidator(_whole_or_nobody)]]]

UnnamedRequest: Any = create_model(
    "UnnamedRequest",
    __base__=SignatureRequestInput,
    __doc__="A creation of which nobody has to be known: signers may have a ``ref`` alone. What is there is "
    "checked by the same rules.",
    signers=(_SIGNERS_OR_NOBODY, Field(min_length=1, max_length=MOST_SIGNERS)),
)

PartialDocument: Any = create_model(
    "PartialDocument",
    __base__=DocumentInput,
    signers=(Annotated[list[Entry[Assignment]], OrNull], Field([], max_length=MOST_SIGNERS)),
)
_DOCUMENTS: Any = list[Entry[PartialDocument]]

PartialRequest: Any = create_model(
    "PartialRequest",
    __base__=UnnamedRequest,
    __doc__="A creation of which any part may be missing: signers, documents, who signs them and how. What is there is "
    "checked by the same rules.",
    signers=(Annotated[_SIGNERS, OrNull], Field([], max_length=MOST_SIGNERS)),
    documents=(Annotated[_DOCUMENTS, OrNull], Field([], max_length=MOST_DOCUMENTS)),
    **fields_of(SignatureRequestInput, ("mode", "validity_days"), optional=True),
)
