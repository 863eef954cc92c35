"""Reading a creation payload into a draft (specification 4.5): every field is checked by itself, none against another.

For a field that cannot be read, a problem is added and the draft holds an empty value, so a draft is good for a plan
only without problems. Arrays are counted before their entries are read; reading of documents ends when there are more
problems than are named.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from django.utils.translation import gettext as _

from paraph.signature_requests.fields import Fields, entries
from paraph.signature_requests.models import Channel, Mode
from paraph.signature_requests.problems import Problems
from paraph.signature_requests.values import array, boolean, choice, email, https_url, integer, number, phone, text
from paraph.tenants.plans import Allowance

MOST_VALIDITY_DAYS = 90
MOST_STAMPS = 10
WIDTHS = (80.0, 400.0)
HEIGHTS = (30.0, 160.0)
DEFAULT_SIZE = (200.0, 80.0)
MOST_ORDER = MOST_PAGES = 2**31 - 1
LONGEST_TAG = 500


@dataclass(frozen=True)
class StampDraft:
    """A stamp: a magic field with its ``tag``, or coordinates with page and rectangle (points, origin bottom-left)."""

    path: str = ""
    optional: bool = False
    tag: str = ""
    page_number: int = 0
    x: float = 0
    y: float = 0
    width: float = DEFAULT_SIZE[0]
    height: float = DEFAULT_SIZE[1]


@dataclass(frozen=True)
class AssignmentDraft:
    """A signer on a document. ``whole`` says that every stamp could be read."""

    path: str
    signer_ref: str
    stamps: list[StampDraft] = field(default_factory=list)
    whole: bool = True


@dataclass(frozen=True)
class DocumentDraft:
    path: str
    id: int
    assignments: list[AssignmentDraft]


@dataclass(frozen=True)
class SignerDraft:
    path: str
    ref: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    phone: str = ""
    order: int = 0
    otp_channel: str = ""


@dataclass(frozen=True)
class RequestDraft:
    mode: str
    validity_days: int
    send_email: bool
    identity_declaration_accepted: bool | None
    initials_required: bool
    notify_signers_on_completion: bool
    callback_url: str
    branding_profile_id: int | None
    signers: list[SignerDraft]
    documents: list[DocumentDraft]


def read(value: object, allowance: Allowance, problems: Problems) -> RequestDraft | None:
    """Returns the draft of a payload, None if that is no object. An unreadable ``identity_declaration_accepted`` is
    None."""
    if not isinstance(value, dict):
        problems.add("signature_request", _("it must be an object."))
        return None
    root = Fields(value, "", problems)
    mode = root.required("mode", one_of(Mode.values)) or ""
    return RequestDraft(
        mode=mode,
        validity_days=root.required("validity_days", partial(integer, maximum=MOST_VALIDITY_DAYS)) or 0,
        send_email=root.optional("send_email", boolean, False) or False,
        identity_declaration_accepted=root.optional("identity_declaration_accepted", boolean, False),
        initials_required=root.optional("initials_required", boolean, False) or False,
        notify_signers_on_completion=root.optional("notify_signers_on_completion", boolean, False) or False,
        callback_url=root.optional("callback_url", https_url, "") or "",
        branding_profile_id=root.optional("branding_profile_id", integer, 0) or None,
        signers=_signers(_limited(root, "signers", allowance.signers), mode, allowance.signers, problems),
        documents=_documents(_limited(root, "documents", allowance.documents), allowance, problems),
    )


def one_of(values: Sequence[str]) -> Callable[[object], str]:
    return partial(choice, values=values)


def between(bounds: tuple[float, float]) -> Callable[[object], float]:
    return partial(number, minimum=bounds[0], maximum=bounds[1])


def _limited(fields: Fields, name: str, limit: int) -> list[Any]:
    """Returns the entries of an array, and adds a problem for more than the plan allows, which nobody reads."""
    values = fields.required(name, array) or []
    if len(values) > limit:
        sentence = _("your plan allows at most %(limit)d entries in a request, not %(count)d.")
        fields.refuse(name, sentence % {"limit": limit, "count": len(values)})
    return values


def _signers(values: list[Any], mode: str, limit: int, problems: Problems) -> list[SignerDraft]:
    drafts = [SignerDraft(f"signers[{limit}]", "")] if len(values) > limit else []  # for the rest
    for index, fields in enumerate(entries(values[:limit], "signers", problems)):
        if fields is None:
            drafts.append(SignerDraft(f"signers[{index}]", ""))
            continue
        drafts.append(_signer(fields, index, mode))
    return drafts


def _signer(fields: Fields, index: int, mode: str) -> SignerDraft:
    channel = fields.optional("otp_channel", one_of(Channel.values), "") or ""
    digits = fields.optional("phone", phone, "")
    if channel == Channel.SMS and digits == "":
        fields.refuse("phone", _("it is required, as otp_channel is sms."))
    order = index + 1
    if mode == Mode.SEQUENTIAL:
        order = fields.optional("order", partial(integer, maximum=MOST_ORDER), -1) or 0
        if order < 0:
            fields.refuse("order", _("it is required."))
    return SignerDraft(
        path=fields.path(),
        ref=fields.required("ref", text) or "",
        first_name=fields.required("first_name", text) or "",
        last_name=fields.required("last_name", text) or "",
        email=fields.required("email", email) or "",
        phone=digits or "",
        order=max(order, 0),
        otp_channel=channel,
    )


def _documents(values: list[Any], allowance: Allowance, problems: Problems) -> list[DocumentDraft]:
    limit = allowance.documents
    drafts = [DocumentDraft(f"documents[{limit}]", 0, [])] if len(values) > limit else []  # for the rest
    for index, fields in enumerate(entries(values[:limit], "documents", problems)):
        path = f"documents[{index}]"
        if fields is None:
            drafts.append(DocumentDraft(path, 0, []))
            continue
        document_id = fields.required("id", integer) or 0
        drafts.append(DocumentDraft(path, document_id, _assignments(fields, document_id, allowance.signers, problems)))
    return drafts


def _assignments(document: Fields, document_id: int, limit: int, problems: Problems) -> list[AssignmentDraft]:
    """Reads at most as many assignments as the plan allows signers."""
    path, values = document.path("signers"), _limited(document, "signers", limit)
    drafts = [AssignmentDraft(f"{path}[{limit}]", "", whole=False)] if len(values) > limit else []
    for index, fields in enumerate(entries(values[:limit], path, problems)):
        if problems.full:
            break
        here = f"{path}[{index}]"
        draft = _assignment(fields, here, document_id, problems) if fields else AssignmentDraft(here, "", whole=False)
        drafts.append(draft)
    return drafts


def _assignment(fields: Fields, path: str, document_id: int, problems: Problems) -> AssignmentDraft:
    ref = fields.required("signer_ref", text) or ""
    values = fields.get("stamps")
    if not isinstance(values, list) or not 1 <= len(values) <= MOST_STAMPS:  # specification 4.5, case 1
        sentence = _("signer “%(ref)s” must have from 1 to %(limit)d stamps on document %(document)d, not %(count)d.")
        count = len(values) if isinstance(values, list) else 0
        facts = {"ref": ref, "limit": MOST_STAMPS, "document": document_id, "count": count}
        problems.add(f"{path}.stamps", sentence % facts)
        return AssignmentDraft(path, ref, whole=False)
    stamps = [_stamp(each) for each in entries(values, f"{path}.stamps", problems) if each]
    readable = [stamp for stamp in stamps if stamp]
    return AssignmentDraft(path, ref, readable, whole=len(readable) == len(values))


def _stamp(fields: Fields) -> StampDraft | None:
    kind = fields.required("type", one_of(["magic_field", "coordinates"]))
    optional = fields.optional("optional", boolean, False, nullable=False)  # specification 4.5, case 6
    value = fields.fields("value")
    if value is None or kind is None:
        return None
    stamp = _magic_field(value) if kind == "magic_field" else _coordinates(value)
    if stamp is None or optional is None:
        return None
    return replace(stamp, path=fields.path(), optional=optional)


def _magic_field(value: Fields) -> StampDraft | None:
    tag = value.required("tag", partial(text, longest=LONGEST_TAG))
    return StampDraft(tag=tag) if tag else None


def _coordinates(value: Fields) -> StampDraft | None:
    page_number = value.required("page_number", partial(integer, maximum=MOST_PAGES))
    x, y = value.required("x", number), value.required("y", number)
    width = value.optional("width", between(WIDTHS), DEFAULT_SIZE[0])
    height = value.optional("height", between(HEIGHTS), DEFAULT_SIZE[1])
    if page_number is None or x is None or y is None or width is None or height is None:
        return None
    return StampDraft(page_number=page_number, x=x, y=y, width=width, height=height)
