"""Checking the references between the parts of a payload (rule 4.5)."""

from collections import Counter

from django.utils.translation import gettext as _

from paraph.signature_requests.input import (
    DocumentInput,
    MagicFieldStamp,
    SignatureRequestInput,
    SignerInput,
)
from paraph.signature_requests.problems import Problems


def check(request: SignatureRequestInput, problems: Problems) -> None:
    """Add a problem for what is required because of another field, for every reference to nothing and for everything
    that is listed twice. A part that could not be read, None, may refer to anything."""
    for index, signer in enumerate(request.signers):
        _required(signer, f"signers[{index}]", request.mode, problems)
    if request.reminders and request.send_email is False:
        problems.add("reminders", _("send_email must be true where signers are to be reminded."))
    _unique_signers(request, problems)
    _unique_documents(request, problems)
    refs = {signer.ref for signer in request.signers}
    for index, document in enumerate(request.documents):
        _assignments(document, f"documents[{index}]", refs, problems)
    _everyone_signs(request, problems)


def _required(signer: SignerInput, path: str, mode: str, problems: Problems) -> None:
    required = {}
    if signer.otp_channel == "sms":
        required["phone"] = _("it is required, as otp_channel is sms.")
    if mode == "sequential" and signer.model_fields_set:
        required["order"] = _("it is required.")
    for name, sentence in required.items():
        if getattr(signer, name) is None and not problems.has(f"{path}.{name}"):
            problems.add(f"{path}.{name}", sentence)


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


def _assignments(document: DocumentInput, path: str, refs: set[str], problems: Problems) -> None:
    """Check cases 2, 7 and 3; optional stamps count too."""
    seen: set[str] = set()
    for index, assignment in enumerate(document.signers):
        ref, here = assignment.signer_ref, f"{path}.signers[{index}]"
        facts = {"ref": ref or "", "document": document.id or 0}
        if ref and ref in seen:
            sentence = _("signer “%(ref)s” is listed twice on document %(document)d; one entry takes all their stamps.")
            problems.add(f"{here}.signer_ref", sentence % facts)
        if ref and not {ref, None} & refs:
            sentence = _("“%(ref)s” on document %(document)d is the ref of no signer of the request.")
            problems.add(f"{here}.signer_ref", sentence % facts)
        seen.add(ref)
        tags = Counter(stamp.value.tag for stamp in assignment.stamps if isinstance(stamp, MagicFieldStamp))
        for tag, count in tags.items():
            if count > 1:
                sentence = _("signer “%(ref)s” uses the tag “%(tag)s” more than once on document %(document)d.")
                problems.add(f"{here}.stamps", sentence % {**facts, "tag": tag})


def _everyone_signs(request: SignatureRequestInput, problems: Problems) -> None:
    assigned = {assignment.signer_ref for document in request.documents for assignment in document.signers}
    if not request.documents or None in assigned or not all(document.signers for document in request.documents):
        return  # a part that could not be read may name the signer
    for index, signer in enumerate(request.signers):
        if signer.ref and signer.ref not in assigned:
            problems.add(f"signers[{index}]", _("signer “%(ref)s” signs no document.") % {"ref": signer.ref})
