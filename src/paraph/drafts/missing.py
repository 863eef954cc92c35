"""What a draft still lacks before it can be sent, in words of its steps."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from paraph.drafts.models import Draft, DraftField, DraftSigner, Step
from paraph.drafts.signer_name import signer_name
from paraph.signature_requests.models import Channel, Role


@dataclass(frozen=True)
class Missing:
    """``signers`` and ``documents`` are the ids of the rows that have no stamp, each with the sentence that says so;
    ``people``: what is not known of signers, which only applications leave out; ``fields``: who fills in a document
    without signing it, and what has no value although signers cannot give one; ``steps``: what a whole step lacks."""

    steps: dict[Step, str]
    signers: dict[int, str]
    documents: dict[int, str]
    people: list[str]
    fields: list[str]

    def of(self, step: Step) -> list[str]:
        """Return the sentences on the step."""
        own = [self.steps[step]] if step in self.steps else []
        if step == Step.SIGNERS:
            return [*own, *self.people]
        if step != Step.PLACEMENTS:
            return own
        return [*own, *self.signers.values(), *self.documents.values(), *self.fields]


def missing(draft: Draft) -> Missing:
    """Return what is missing; documents and signers without any stamp are only named where there are both."""
    documents, signers = list(draft.documents.select_related("document")), list(draft.signers.all())
    steps = {}
    if not documents:
        steps[Step.DOCUMENTS] = _("Add a document first.")
    if not signers:
        steps[Step.SIGNERS] = _("Add a signer first.")
    elif all(signer.role == Role.APPROVER for signer in signers):
        steps[Step.SIGNERS] = _("Somebody has to sign, and not only approve.")
    people = [sentence for signer in signers if (sentence := _unknown(signer, draft.locale))]
    if steps:
        return Missing(steps, {}, {}, people, [])
    stamps, fields = draft.places()
    stamped = {(stamp.signer.pk, stamp.document.pk) for stamp in stamps}
    of_signers, of_documents = {pair[0] for pair in stamped}, {pair[1] for pair in stamped}
    sentence = _("%(name)s has no place to sign yet.")
    names = {signer.pk: signer_name(signer, draft.locale) for signer in signers if signer.role == Role.SIGNER}
    return Missing(
        {},
        {pk: sentence % {"name": name} for pk, name in names.items() if pk not in of_signers},
        {row.pk: sentence % {"name": row.document.name} for row in documents if row.pk not in of_documents},
        people,
        [*_unsigned(fields, names, stamped, of_signers), *_without_value(fields)],
    )


def _without_value(fields: Sequence[DraftField]) -> list[str]:
    """Return a sentence for each read-only field without a value, which templates made of requests have."""
    sentence = _("“%(field)s” on %(document)s needs a value, since signers cannot change it.")
    return [
        sentence
        % {"field": field.content.get("label") or field.content["name"], "document": field.document.document.name}
        for field in fields
        if field.content.get("read_only") and field.content.get("value") is None
    ]


def _unsigned(
    fields: Sequence[DraftField], names: dict[int, str], stamped: set[tuple[int, int]], of_signers: set[int]
) -> list[str]:
    """Return who fills in a document and signs others alone."""
    filled = [field for field in fields if field.signer.pk in of_signers]
    lacking = {(field.signer.pk, field.document.pk): field.document.document.name for field in filled}
    sentence = _("%(name)s has fields on %(document)s, but no place to sign there yet.")
    return [
        sentence % {"name": names[signer], "document": document}
        for (signer, row), document in lacking.items()
        if (signer, row) not in stamped
    ]


def _unknown(signer: DraftSigner, locale: str) -> str:
    """Return which fields of the signer are empty and must not be; "" where none is."""
    fields = {"first_name": _("First name"), "last_name": _("Last name"), "email": _("E-mail")}
    if signer.otp_channel == Channel.SMS:
        fields["phone"] = _("Phone")
    lacking = [label for name, label in fields.items() if not getattr(signer, name)]
    if not lacking:
        return ""
    return _("%(signer)s still lacks: %(fields)s.") % {
        "signer": signer_name(signer, locale),
        "fields": ", ".join(lacking),
    }
