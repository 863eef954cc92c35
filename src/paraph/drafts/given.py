"""A draft as an application gives it: what is there is checked as in a creation, and anything may be missing."""

from collections.abc import Iterator
from itertools import count
from typing import Any, NamedTuple

from django.utils.translation import gettext as _

from paraph.drafts.input import DraftInput
from paraph.drafts.models import DEFAULT_VALIDITY_DAYS
from paraph.drafts.models import OPTIONS as COLUMNS
from paraph.drafts.payload import parts_payload
from paraph.signature_requests.input import PartialRequest, options_of
from paraph.signature_requests.models import Channel, Mode, Role
from paraph.signature_requests.payload import look_for_unknown
from paraph.signature_requests.placing import PlannedDocument
from paraph.signature_requests.plan import make_plan
from paraph.signature_requests.problems import Problems
from paraph.tenants.scope import TenantScope

Json = dict[str, Any]

_DEFAULTS = {"mode": Mode.PARALLEL, "validity_days": DEFAULT_VALIDITY_DAYS}


class Given(NamedTuple):
    """``options`` by the names of their columns. ``signers``: what is known of each, by its ``ref``, in the signing
    order."""

    options: Json
    signers: dict[str, Json]
    documents: list[PlannedDocument]


def read(scope: TenantScope, value: object, locale: str) -> Given:
    """Return what to keep of ``value``, that of the root key ``signature_request``. ``locale``: of the draft.

    Raises what :func:`paraph.signature_requests.plan.make_plan` does, with every problem in one message.
    """
    known = _without_nulls(value)
    payload = _as_creation(known) if isinstance(known, dict) else {}
    problems = Problems()
    if not isinstance(known, dict):
        problems.add("signature_request", _("it must be an object."))
        problems.refuse()
    look_for_unknown(value, DraftInput, "", problems, [])
    plan = make_plan(scope, payload, problems, locale, shape=PartialRequest)
    chosen = plan.draft
    named = {name: getattr(chosen, name) for name in COLUMNS if name != "locale"}
    options = _DEFAULTS | {name: each for name, each in named.items() if each is not None}
    options["more_options"] = _more_options(known) | parts_payload(chosen)
    signers = list(zip(chosen.signers, known.get("signers", []), strict=True))
    if chosen.mode == "sequential":
        free = _unused(chosen.signers)
        orders = {checked.ref: checked.order or next(free) for checked in chosen.signers}
        signers.sort(key=lambda each: orders[each[0].ref])
    return Given(options, {checked.ref: _person(signer) for checked, signer in signers}, plan.documents)


def _person(signer: Json) -> Json:
    person = {name: signer.get(name, "") for name in ("first_name", "last_name", "email", "phone")}
    return person | {"otp_channel": signer.get("otp_channel", Channel.EMAIL), "role": signer.get("role", Role.SIGNER)}


def _more_options(known: Json) -> Json:
    """Whoever sends declares that the signers' identity is known. Drafts are sent with mails unless they say
    otherwise."""
    more = {name: each for name, each in options_of(known).items() if name not in COLUMNS}
    for name in ("identity_declaration_accepted", "copies"):
        more.pop(name, None)
    if more.get("send_email"):
        del more["send_email"]
    return more


def _as_creation(known: Json) -> Json:
    """Return the payload with a ``ref`` for each signer, sent with mails, by a member who declares with sending that
    the signers' identity is known."""
    payload = {"send_email": True} | known
    if payload.get("identity_declaration_accepted", False) is False:
        payload["identity_declaration_accepted"] = True
    if isinstance(signers := payload.get("signers"), list):
        payload["signers"] = [
            {"ref": f"{number}. -"} | each if isinstance(each, dict) else each
            for number, each in enumerate(signers, start=1)
        ]
    if isinstance(documents := payload.get("documents"), list):
        payload["documents"] = [_document(each) if isinstance(each, dict) else each for each in documents]
    return payload


def _unused(signers: list[Any]) -> Iterator[int]:
    """Yield signing orders that no signer has, the lowest first."""
    taken = {signer.order for signer in signers}
    return (number for number in count(1) if number not in taken)


def _document(document: Json) -> Json:
    """Leave out the assignments without stamps and fields."""
    if not isinstance(document.get("signers"), list):
        return document
    signers = [
        each for each in document["signers"] if not isinstance(each, dict) or each.get("stamps") or each.get("fields")
    ]
    return document | {"signers": signers}


def _without_nulls(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_nulls(each) for each in value]
    if isinstance(value, dict):
        return {name: _without_nulls(each) for name, each in value.items() if each is not None}
    return value
