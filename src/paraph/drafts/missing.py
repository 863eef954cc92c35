"""What a draft still lacks before it can be sent, in words of its steps."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from paraph.drafts.models import Draft, DraftStamp, Step
from paraph.signature_requests.names import full_name


@dataclass(frozen=True)
class Missing:
    """``signers`` and ``documents`` are the ids of the rows that have no stamp, each with the sentence that says so;
    ``steps``: what a whole step lacks."""

    steps: dict[Step, str]
    signers: dict[int, str]
    documents: dict[int, str]

    def of(self, step: Step) -> list[str]:
        """Returns the sentences on the step."""
        own = [self.steps[step]] if step in self.steps else []
        return [*own, *self.signers.values(), *self.documents.values()] if step == Step.PLACEMENTS else own


def missing(draft: Draft) -> Missing:
    """Returns what is missing; documents and signers without any stamp are only named where there are both."""
    documents, signers = list(draft.documents.select_related("document")), list(draft.signers.all())
    steps = {}
    if not documents:
        steps[Step.DOCUMENTS] = _("Add a document first.")
    if not signers:
        steps[Step.SIGNERS] = _("Add a signer first.")
    if steps:
        return Missing(steps, {}, {})
    stamped = DraftStamp.objects.filter(document__draft=draft).values_list("signer_id", "document_id")
    of_signers, of_documents = {pair[0] for pair in stamped}, {pair[1] for pair in stamped}
    sentence = _("%(name)s has no place to sign yet.")
    names = {signer.pk: full_name(signer.first_name, signer.last_name, draft.locale) for signer in signers}
    return Missing(
        {},
        {pk: sentence % {"name": name} for pk, name in names.items() if pk not in of_signers},
        {row.pk: sentence % {"name": row.document.name} for row in documents if row.pk not in of_documents},
    )
