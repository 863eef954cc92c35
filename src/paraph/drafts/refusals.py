"""Why a draft cannot be sent yet: what it lacks, in words of its steps, and what is wrong with what is there."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from django.utils.translation import gettext as _

from paraph.documents.models import Document
from paraph.drafts.content import creation_of
from paraph.drafts.models import Draft, DraftSigner, Placed, Step
from paraph.signature_requests.models import Channel
from paraph.signature_requests.plan import make_plan
from paraph.signature_requests.problems import InvalidPayloadError, Problem
from paraph.tenants.scope import TenantScope

_OF_ROW = re.compile(r"(documents|signers)\[(\d+)\]")


class Refusal(NamedTuple):
    """A sentence on what is wrong with a draft, and the step at which it can be mended. ``path``: what of the creation
    it is about, such as ``signers[1].phone``; "" where that is no single thing."""

    step: Step
    sentence: str
    path: str = ""


def refusals(scope: TenantScope, draft: Draft) -> list[Refusal]:
    """Return why the draft could not be sent now; empty if it could. What is missing is told in the words of the
    steps, and the rest once nothing is."""
    lacking = missing(draft)
    paths = {sentence: path for path, sentence in lacking.people.items()}
    if found := [Refusal(step, each, paths.get(each, "")) for step in Step for each in lacking.of(step)]:
        return found
    try:
        make_plan(scope, creation_of(draft.content), locale=draft.locale)
    except InvalidPayloadError as refused:
        return refusals_of(draft, refused)
    return []


def refusals_of(draft: Draft, refused: InvalidPayloadError) -> list[Refusal]:
    """Return the problems of the creation, each with the signer or file that it is about."""
    return [
        Refusal(_step(problem), f"{_subject(draft, problem)}{problem.sentence}", problem.path)
        for problem in refused.problems
    ]


def _subject(draft: Draft, problem: Problem) -> str:
    found = _OF_ROW.match(problem.path)
    if found is None:
        return ""
    if found[1] == "documents":
        names = [document.name for document in draft.files()]
    else:
        names = [signer.name(draft.locale) for signer in draft.signers]
    index = int(found[2])
    return f"{names[index]}: " if index < len(names) else ""


def _step(problem: Problem) -> Step:
    if problem.path.endswith("]") and problem.path.startswith("signers["):  # of no field: the signer signs nothing
        return Step.PLACEMENTS
    if problem.path.startswith("signers") or problem.path == "mode":
        return Step.SIGNERS
    if problem.path.startswith("documents"):
        return Step.PLACEMENTS if ".signers" in problem.path else Step.DOCUMENTS
    return Step.REVIEW


@dataclass(frozen=True)
class Missing:
    """``signers`` and ``documents``: the refs and the ids of those that have no stamp, each with the sentence that says
    so; ``people``: what is not known of signers, which only applications leave out, by the path of the first of it;
    ``fields``: who fills in a document without signing it, and what has no value although signers cannot give one;
    ``steps``: what a whole step lacks."""

    steps: dict[Step, str]
    signers: dict[str, str]
    documents: dict[int, str]
    people: dict[str, str]
    fields: list[str]

    def of(self, step: Step) -> list[str]:
        """Return the sentences on the step."""
        own = [self.steps[step]] if step in self.steps else []
        if step == Step.SIGNERS:
            return [*own, *self.people.values()]
        if step != Step.PLACEMENTS:
            return own
        return [*own, *self.signers.values(), *self.documents.values(), *self.fields]


def missing(draft: Draft) -> Missing:
    """Return what is missing; documents and signers without any stamp are only named where there are both."""
    documents, signers = draft.files(), draft.signers
    steps = {}
    if not documents:
        steps[Step.DOCUMENTS] = _("Add a document first.")
    if not signers:
        steps[Step.SIGNERS] = _("Add a signer first.")
    elif not draft.signing:
        steps[Step.SIGNERS] = _("At least one person must sign, not only approve.")
    people = {path: sentence for signer in signers for path, sentence in _unknown(signer, draft.locale)}
    if steps:
        return Missing(steps, {}, {}, people, [])
    places = draft.places()
    stamped = {(each.signer.ref, each.document.pk) for each in places if each.field is None}
    of_signers, of_documents = {pair[0] for pair in stamped}, {pair[1] for pair in stamped}
    sentence = _("%(name)s has no place to sign yet.")
    names = {signer.ref: signer.name(draft.locale) for signer in draft.signing}
    fields = [each for each in places if each.field]
    unsigned = {
        (each.signer.ref, each.document.pk): each.document
        for each in fields
        if each.signer.ref in of_signers and (each.signer.ref, each.document.pk) not in stamped
    }
    return Missing(
        {},
        {ref: sentence % {"name": name} for ref, name in names.items() if ref not in of_signers},
        {each.pk: sentence % {"name": each.name} for each in documents if each.pk not in of_documents},
        people,
        [
            *(_unsigned(names[ref], document) for (ref, _pk), document in unsigned.items()),
            *(sentence for field in fields if not draft.of_template and (sentence := _without_value(field))),
        ],
    )


def _unsigned(name: str, document: Document) -> str:
    sentence = _("%(name)s has fields on %(document)s, but no place to sign there yet.")
    return sentence % {"name": name, "document": document.name}


def _without_value(at: Placed) -> str:
    """Return a sentence on a read-only field without a value, which templates made of requests have; "" on others."""
    asked = at.field or {}
    if not asked.get("read_only") or asked.get("value") is not None:
        return ""
    sentence = _("“%(field)s” on %(document)s needs a value, since signers cannot change it.")
    return sentence % {"field": asked.get("label") or asked["name"], "document": at.document.name}


def _unknown(signer: DraftSigner, locale: str) -> Iterator[tuple[str, str]]:
    """Yield the path of the first field of the signer that is empty and must not be, with a sentence on all of them."""
    fields = {"first_name": _("First name"), "last_name": _("Last name"), "email": _("E-mail")}
    if signer.otp_channel == Channel.SMS:
        fields["phone"] = _("Phone")
    lacking = {name: label for name, label in fields.items() if not getattr(signer, name)}
    if lacking:
        facts = {"signer": signer.name(locale), "fields": ", ".join(lacking.values())}
        yield f"signers[{signer.position}].{next(iter(lacking))}", _("%(signer)s still lacks: %(fields)s.") % facts
