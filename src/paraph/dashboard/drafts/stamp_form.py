"""The form of a stamp."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from paraph.dashboard.drafts.place_form import MOST, RECTANGLE, PlaceForm
from paraph.drafts.models import DraftStamp
from paraph.signature_requests.input import DEFAULT_SIZE, Assignment, CoordinatesStamp, DocumentInput, Rectangle
from paraph.signature_requests.placing import place
from paraph.signature_requests.problems import Problems
from paraph.signature_requests.values import HEIGHTS, WIDTHS


class StampForm(PlaceForm):
    """The form of a stamp. Whether it fits its page is checked by the code that checks the API's."""

    width = forms.FloatField(
        label=gettext_lazy("Width"), min_value=WIDTHS[0], max_value=WIDTHS[1], initial=DEFAULT_SIZE[0]
    )
    height = forms.FloatField(
        label=gettext_lazy("Height"), min_value=HEIGHTS[0], max_value=HEIGHTS[1], initial=DEFAULT_SIZE[1]
    )

    def clean(self) -> dict[str, Any]:
        entered = self.cleaned_data
        if not self.errors and _problems(entered):
            self.refuse_misfits()
            if not self.errors:
                self.add_error("x", _("The stamp does not fit on the page."))
        return entered

    def stamp(self) -> DraftStamp:
        entered = self.cleaned_data
        return DraftStamp(document=entered["document"], signer=entered["signer"], **self.rectangle())


StampForms = forms.formset_factory(StampForm, extra=0, can_delete=True, absolute_max=MOST, max_num=MOST)


def _problems(entered: dict[str, Any]) -> list[str]:
    document, ref = entered["document"].document, entered["signer"].ref
    numbers = {name: entered[name] for name in RECTANGLE}
    stamp = CoordinatesStamp(type="coordinates", value=Rectangle(page_number=entered["page"], **numbers))
    problems = Problems()
    place(DocumentInput(id=document.pk, signers=[Assignment(signer_ref=ref, stamps=[stamp])]), "", document, problems)
    return [problem.sentence for problem in problems.named]
