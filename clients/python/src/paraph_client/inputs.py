"""What you send. ``None`` counts as not said."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal, Required, TypedDict

Json = dict[str, Any]


@dataclass(frozen=True)
class SignerInput:
    """``ref`` links the signer to their placements and is not kept. ``phone`` is E.164, required for ``sms``.
    ``order`` is the signing order in ``sequential`` mode. ``role`` is "signer" unless you say "approver".
    ``language`` is that of their mails and page, such as "fr"; the request's unless you say another."""

    ref: str
    first_name: str
    last_name: str
    email: str
    order: int | None = None
    phone: str | None = None
    otp_channel: str | None = None
    role: str | None = None
    language: str | None = None


@dataclass(frozen=True)
class CopyInput:
    """Who gets a mail with links to the sealed files once they are there."""

    first_name: str
    last_name: str
    email: str


@dataclass(frozen=True)
class Stamp:
    """Made by :func:`under_tag` and :func:`at`; the place of a field, too."""

    type: str
    value: Json
    optional: bool = False


def under_tag(tag: str, *, width: float | None = None, height: float | None = None, optional: bool = False) -> Stamp:
    """A stamp just under the first place where the text ``tag`` stands, centred on it; 200 by 80 unless you say
    otherwise, a field 160 by 18, a checkbox 12 by 12."""
    return Stamp("magic_field", {"tag": tag, "width": width, "height": height}, optional)


def at(page_number: int, x: float, y: float, width: float | None = None, height: float | None = None) -> Stamp:
    """A stamp at a place in PDF points, origin at the bottom left; 200 by 80 unless you say otherwise, a field 160 by
    18, a checkbox 12 by 12."""
    place = {"page_number": page_number, "x": x, "y": y, "width": width, "height": height}
    return Stamp("coordinates", place)


@dataclass(frozen=True)
class FieldInput:
    """What a signer fills in. ``type`` is "text", "multiline", "number", "date", "checkbox", "choice", or one that the
    service fills: "signed_on", "full_name", "email". ``placement`` is made by :func:`under_tag` and :func:`at`.
    ``value`` counts where the signer enters none, and ``read_only`` keeps it."""

    name: str
    type: str
    placement: Stamp
    label: str | None = None
    required: bool | None = None
    value: str | bool | None = None
    read_only: bool | None = None
    options: Sequence[str] | None = None
    max_length: int | None = None
    minimum: float | str | None = None
    maximum: float | str | None = None
    font_size: float | None = None


@dataclass(frozen=True)
class Placement:
    """The stamps of one signer on one document, 1 to 10, and up to 50 fields. An approver has neither."""

    signer_ref: str
    stamps: Sequence[Stamp] = ()
    fields: Sequence[FieldInput] | None = None


@dataclass(frozen=True)
class DocumentInput:
    """An uploaded document and who signs it where."""

    id: int
    signers: Sequence[Placement]


class Options(TypedDict, total=False):
    """What a request can be told beside who signs what. ``external_id`` and ``metadata`` are yours and come back with
    each answer; ``reminders`` is ``{"every_days": 1..30, "at_most": 1..10}``."""

    send_email: bool | None
    identity_declaration_accepted: bool | None
    initials_required: bool | None
    notify_signers_on_completion: bool | None
    callback_url: str | None
    branding_profile_id: int | None
    external_id: str | None
    metadata: Mapping[str, str] | None
    redirect_url: str | None
    reminders: Mapping[str, int] | None
    copies: Sequence[CopyInput] | None
    decline_allowed: bool | None


class NewRequest(Options, total=False):
    """A request to create."""

    mode: Required[Literal["sequential", "parallel"]]
    validity_days: Required[int]
    signers: Required[Sequence[SignerInput]]
    documents: Required[Sequence[DocumentInput]]


class Correction(TypedDict, total=False):
    """What to put right of a signer. ``language`` is that of their mails and page, such as "fr"."""

    first_name: str | None
    last_name: str | None
    email: str | None
    phone: str | None
    otp_channel: Literal["email", "sms"] | None
    language: str | None


class AnyRequest(Options, total=False):
    """A request of which anything may be missing."""

    mode: Literal["sequential", "parallel"] | None
    validity_days: int | None
    signers: Sequence[SignerInput] | None
    documents: Sequence[DocumentInput] | None


@dataclass(frozen=True)
class TemplateRole:
    """Who signs requests of a template, by what they are: "Tenant". ``role`` is "signer" unless you say
    "approver". ``language`` is that of whoever has the role."""

    name: str
    otp_channel: str | None = None
    role: str | None = None
    language: str | None = None


@dataclass(frozen=True)
class RolePlacement:
    """The stamps of a role on one document, 1 to 10, and up to 50 fields. One that approves has neither."""

    role: str
    stamps: Sequence[Stamp] = ()
    fields: Sequence[FieldInput] | None = None


@dataclass(frozen=True)
class TemplateDocument:
    """An uploaded document and which roles sign it where."""

    id: int
    roles: Sequence[RolePlacement]


@dataclass(frozen=True)
class FieldValue:
    """What a field of a role begins with in one request."""

    name: str
    value: str | bool


@dataclass(frozen=True)
class RoleSigner:
    """Who has a role of a template in one request, and what its fields begin with."""

    role: str
    first_name: str
    last_name: str
    email: str
    phone: str | None = None
    fields: Sequence[FieldValue] | None = None
    language: str | None = None


class NewTemplate(Options, total=False):
    """A template to keep, with the options of its requests."""

    name: Required[str]
    mode: Required[Literal["sequential", "parallel"]]
    validity_days: Required[int]
    roles: Required[Sequence[TemplateRole]]
    documents: Required[Sequence[TemplateDocument]]


def as_json(value: Any) -> Any:
    """As JSON has it, without what was not said."""
    if is_dataclass(value):
        return as_json({each.name: getattr(value, each.name) for each in fields(value)})
    if isinstance(value, Mapping):
        return {name: as_json(each) for name, each in value.items() if each is not None}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [as_json(each) for each in value]
    return value
