"""Checking the references between the parts of a payload (rule 4.5)."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from paraph.pdf.untrusted.folding import fold
from paraph.signature_requests.fields.input import MOST_FIELDS_OF_REQUEST, MagicFieldPlacement, check_field
from paraph.signature_requests.input import (
    Assignment,
    DocumentInput,
    MagicFieldStamp,
    SignatureRequestInput,
    SignerInput,
)
from paraph.signature_requests.models import Role
from paraph.signature_requests.payload import stamps_sentence
from paraph.signature_requests.problems import Problems
from paraph.signature_requests.values import InvalidValueError, sms_number
from paraph.signature_requests.variants import PartialRequest, UnnamedRequest, is_nobody


def check(request: SignatureRequestInput, problems: Problems) -> None:
    """Add a problem for what is required because of another field, for every reference to nothing and for everything
    that is listed twice. A part that could not be read, None, may refer to anything. What the shape of the request lets
    be missing is not asked for."""
    partial = isinstance(request, PartialRequest)
    for index, signer in enumerate(request.signers):
        _required(signer, f"signers[{index}]", request, problems)
    if request.reminders and request.send_email is False:
        problems.add("reminders", _("send_email must be true where signers are to be reminded."))
    _unique_signers(request, problems)
    _unique_documents(request, problems)
    roles = {signer.ref: signer.role for signer in request.signers}
    for index, document in enumerate(request.documents):
        _assignments(document, f"documents[{index}]", roles, problems, partial=partial)
    _somebody_signs(request, problems)
    if not partial:
        _everyone_signs(request, problems)
    _few_fields(request, problems)


def _required(signer: SignerInput, path: str, request: SignatureRequestInput, problems: Problems) -> None:
    required, partial = {}, isinstance(request, PartialRequest)
    unnamed = isinstance(request, UnnamedRequest) and is_nobody(signer.model_fields_set)
    if signer.otp_channel == "sms" and not (partial or unnamed):
        required["phone"] = _("it is required, as otp_channel is sms.")
    if request.mode == "sequential" and signer.model_fields_set and not partial:
        required["order"] = _("it is required.")
    for name, sentence in required.items():
        if getattr(signer, name) is None and not problems.has(f"{path}.{name}"):
            problems.add(f"{path}.{name}", sentence)
    if signer.otp_channel == "sms" and signer.phone:
        try:
            sms_number(signer.phone)
        except InvalidValueError as wrong:
            problems.add(f"{path}.phone", str(wrong))


def _unique_signers(request: SignatureRequestInput, problems: Problems) -> None:
    refs = Counter(signer.ref for signer in request.signers if signer.ref)
    orders = Counter(signer.order for signer in request.signers if signer.order)
    for index, signer in enumerate(request.signers):
        if refs[signer.ref] > 1:
            sentence = _("“%(ref)s” is the ref of another signer too.")
            problems.add(f"signers[{index}].ref", sentence % {"ref": signer.ref})
        if request.mode == "sequential" and signer.order and orders[signer.order] > 1:
            sentence = _("%(order)d is the order of another signer too.")
            problems.add(f"signers[{index}].order", sentence % {"order": signer.order})


def _unique_documents(request: SignatureRequestInput, problems: Problems) -> None:
    seen: set[int] = set()
    for index, document in enumerate(request.documents):
        if document.id and document.id in seen:
            sentence = _("document %(document)d is listed more than once.")
            problems.add(f"documents[{index}].id", sentence % {"document": document.id})
        seen.add(document.id)


def _assignments(
    document: DocumentInput, path: str, roles: Mapping[str, str], problems: Problems, *, partial: bool
) -> None:
    """Check cases 1, 2, 7 and 3; optional stamps count too."""
    seen: set[str] = set()
    for index, assignment in enumerate(document.signers):
        ref, here = assignment.signer_ref, f"{path}.signers[{index}]"
        facts = {"ref": ref or "", "document": document.id or 0}
        if ref and ref in seen:
            sentence = _("signer “%(ref)s” is listed twice on document %(document)d; one entry takes all their stamps.")
            problems.add(f"{here}.signer_ref", sentence % facts)
        if ref and not {ref, None} & roles.keys():
            sentence = _("“%(ref)s” on document %(document)d is the ref of no signer of the request.")
            problems.add(f"{here}.signer_ref", sentence % facts)
        seen.add(ref)
        if roles.get(ref) == Role.APPROVER:
            _draws_nothing(assignment, here, facts, problems)
        elif roles.get(ref, Role.SIGNER):  # else it could not be read
            _draws(assignment, here, facts, problems, partial=partial)
    listed = [roles.get(assignment.signer_ref) for assignment in document.signers]
    if Role.SIGNER in roles.values() and listed and all(role == Role.APPROVER for role in listed):
        problems.add(f"{path}.signers", _("at least one of them must sign, not only approve."))


def _draws_nothing(assignment: Assignment, path: str, facts: dict[str, Any], problems: Problems) -> None:
    for name in ("stamps", "fields"):
        if getattr(assignment, name):
            sentence = _("“%(ref)s” approves and has neither stamps nor fields.")
            problems.add(f"{path}.{name}", sentence % facts)


def _draws(assignment: Assignment, path: str, facts: dict[str, Any], problems: Problems, *, partial: bool) -> None:
    is_known = bool(assignment.stamps or not assignment.model_fields_set)
    if not (is_known or partial or problems.has(f"{path}.stamps")):
        problems.add(f"{path}.stamps", stamps_sentence(facts["ref"], facts["document"], []))
    tags = [stamp.value.tag for stamp in assignment.stamps if isinstance(stamp, MagicFieldStamp) and stamp.value.tag]
    used = Counter(map(fold, tags))  # as they are searched: {{a}} and {{ a }} are one
    repeated = _("signer “%(ref)s” uses the tag “%(tag)s” more than once on document %(document)d.")
    for tag in {fold(tag): tag for tag in reversed(tags)}.values():
        if used[fold(tag)] > 1:
            problems.add(f"{path}.stamps", repeated % {**facts, "tag": tag})
    names: set[str] = set()
    for index, given in enumerate(assignment.fields):
        here = f"{path}.fields[{index}]"
        check_field(given, here, problems)
        if given.name and given.name in names:
            sentence = _("“%(name)s” is the name of another field of this signer on this document.")
            problems.add(f"{here}.name", sentence % {"name": given.name})
        names.add(given.name)
        if isinstance(given.placement, MagicFieldPlacement) and (tag := given.placement.value.tag):
            used[fold(tag)] += 1
            if used[fold(tag)] > 1:
                problems.add(f"{here}.placement.value.tag", repeated % {**facts, "tag": tag})


def _somebody_signs(request: SignatureRequestInput, problems: Problems) -> None:
    roles: list[str] = [signer.role for signer in request.signers]
    if roles and all(role == Role.APPROVER for role in roles):
        problems.add("signers", _("at least one of them must sign, not only approve."))


def _everyone_signs(request: SignatureRequestInput, problems: Problems) -> None:
    assigned = {assignment.signer_ref for document in request.documents for assignment in document.signers}
    if not request.documents or None in assigned or not all(document.signers for document in request.documents):
        return  # a part that could not be read may name the signer
    for index, signer in enumerate(request.signers):
        if signer.ref and signer.ref not in assigned:
            sentences = {
                Role.SIGNER: _("signer “%(ref)s” signs no document."),
                Role.APPROVER: _("“%(ref)s” approves no document: list them on one, without stamps."),
            }
            problems.add(f"signers[{index}]", sentences[Role(signer.role or Role.SIGNER)] % {"ref": signer.ref})


def _few_fields(request: SignatureRequestInput, problems: Problems) -> None:
    """All of them stand in each answer about the request, and in lists of a hundred requests."""
    count = sum(len(assignment.fields) for document in request.documents for assignment in document.signers)
    if count > MOST_FIELDS_OF_REQUEST:
        sentence = _("all signers together may have at most %(limit)d fields, not %(count)d.")
        problems.add("documents", sentence % {"limit": MOST_FIELDS_OF_REQUEST, "count": count})
