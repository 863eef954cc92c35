"""Checking the references between the parts of a payload (specification 4.5)."""

from collections import Counter

from django.utils.translation import gettext as _

from paraph.signature_requests.models import Mode
from paraph.signature_requests.problems import Problems
from paraph.signature_requests.request_draft import AssignmentDraft, DocumentDraft, RequestDraft


def check(draft: RequestDraft, problems: Problems) -> None:
    """Adds a problem for every reference to nothing and for everything listed twice."""
    _unique_signers(draft, problems)
    _unique_documents(draft, problems)
    refs = {signer.ref for signer in draft.signers}
    for document in draft.documents:
        _assigned_once(document, problems)
        for assignment in document.assignments:
            _known_signer(assignment, document, refs, problems)
            _unique_tags(assignment, document, problems)
    _everyone_signs(draft, problems)


def _unique_signers(draft: RequestDraft, problems: Problems) -> None:
    refs = Counter(signer.ref for signer in draft.signers if signer.ref)
    orders = Counter(signer.order for signer in draft.signers if signer.order)
    for signer in draft.signers:
        if refs[signer.ref] > 1:
            problems.add(f"{signer.path}.ref", _("“%(ref)s” is the ref of another signer too.") % {"ref": signer.ref})
        if draft.mode == Mode.SEQUENTIAL and orders[signer.order] > 1:
            sentence = _("%(order)d is the order of another signer too.")
            problems.add(f"{signer.path}.order", sentence % {"order": signer.order})


def _unique_documents(draft: RequestDraft, problems: Problems) -> None:
    seen: set[int] = set()
    for document in draft.documents:
        if document.id and document.id in seen:
            sentence = _("document %(document)d is listed more than once.")
            problems.add(f"{document.path}.id", sentence % {"document": document.id})
        seen.add(document.id)


def _assigned_once(document: DocumentDraft, problems: Problems) -> None:
    """Checks case 2."""
    seen: set[str] = set()
    for assignment in document.assignments:
        if assignment.signer_ref and assignment.signer_ref in seen:
            sentence = _("signer “%(ref)s” is listed twice on document %(document)d; one entry takes all their stamps.")
            facts = {"ref": assignment.signer_ref, "document": document.id}
            problems.add(f"{assignment.path}.signer_ref", sentence % facts)
        seen.add(assignment.signer_ref)


def _known_signer(assignment: AssignmentDraft, document: DocumentDraft, refs: set[str], problems: Problems) -> None:
    """Checks case 7, unless a signer's ref could not be read ("" among ``refs``) and might be the one meant."""
    if assignment.signer_ref and assignment.signer_ref not in refs and "" not in refs:
        sentence = _("“%(ref)s” on document %(document)d is the ref of no signer of the request.")
        facts = {"ref": assignment.signer_ref, "document": document.id}
        problems.add(f"{assignment.path}.signer_ref", sentence % facts)


def _unique_tags(assignment: AssignmentDraft, document: DocumentDraft, problems: Problems) -> None:
    """Checks case 3. Optional stamps count too."""
    for tag, count in Counter(stamp.tag for stamp in assignment.stamps if stamp.tag).items():
        if count > 1:
            sentence = _("signer “%(ref)s” uses the tag “%(tag)s” more than once on document %(document)d.")
            facts = {"ref": assignment.signer_ref, "tag": tag, "document": document.id}
            problems.add(f"{assignment.path}.stamps", sentence % facts)


def _everyone_signs(draft: RequestDraft, problems: Problems) -> None:
    assigned = {assignment.signer_ref for document in draft.documents for assignment in document.assignments}
    if not draft.documents or "" in assigned or not all(document.assignments for document in draft.documents):
        return  # a part that could not be read may name the signer
    for signer in draft.signers:
        if signer.ref and signer.ref not in assigned:
            problems.add(signer.path, _("signer “%(ref)s” signs no document.") % {"ref": signer.ref})
