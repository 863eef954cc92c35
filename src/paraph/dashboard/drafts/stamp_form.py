"""The form of a stamp, in points of the page as a reader sees it, origin at the bottom left."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from paraph.drafts.models import Draft, DraftDocument, DraftSigner
from paraph.signature_requests.input import DEFAULT_SIZE, Assignment, CoordinatesStamp, DocumentInput, Rectangle
from paraph.signature_requests.input_types import HEIGHTS, WIDTHS
from paraph.signature_requests.placing import place
from paraph.signature_requests.problems import Problems

_MOST = 5_000  # of a draft: what the largest plan allows is refused by the payload's own limits


class SignerField(forms.ModelChoiceField):  # type: ignore[type-arg]  # Django's takes none where it runs
    def label_from_instance(self, obj: DraftSigner) -> str:
        return obj.ref


class DocumentField(forms.ModelChoiceField):  # type: ignore[type-arg]  # Django's takes none where it runs
    def label_from_instance(self, obj: DraftDocument) -> str:
        return f"{obj.position + 1}. {obj.document.name}"


class StampForm(forms.Form):
    """Whether the stamp fits its page is judged by the code that judges the API's."""

    signer = SignerField(DraftSigner.objects.none(), label=gettext_lazy("Signer"), empty_label=None)
    document = DocumentField(DraftDocument.objects.none(), label=gettext_lazy("Document"), empty_label=None)
    page = forms.IntegerField(label=gettext_lazy("Page"), min_value=1, max_value=100_000)
    x = forms.FloatField(label=gettext_lazy("X"))
    y = forms.FloatField(label=gettext_lazy("Y"))
    width = forms.FloatField(
        label=gettext_lazy("Width"), min_value=WIDTHS[0], max_value=WIDTHS[1], initial=DEFAULT_SIZE[0]
    )
    height = forms.FloatField(
        label=gettext_lazy("Height"), min_value=HEIGHTS[0], max_value=HEIGHTS[1], initial=DEFAULT_SIZE[1]
    )

    def __init__(self, *arguments: Any, draft: Draft, **more: Any) -> None:
        super().__init__(*arguments, **more)
        signers, documents = self.fields["signer"], self.fields["document"]
        assert isinstance(signers, SignerField) and isinstance(documents, DocumentField)
        signers.queryset, documents.queryset = draft.signers.all(), draft.documents.select_related("document")
        for name in ("x", "y", "width", "height"):
            self.fields[name].widget.attrs["step"] = "any"

    def clean(self) -> dict[str, Any]:
        entered = self.cleaned_data
        if not self.errors and _problems(entered):
            for name, sentence in _misfits(entered):
                self.add_error(name, sentence)
        return entered


StampForms = forms.formset_factory(StampForm, extra=0, can_delete=True, absolute_max=_MOST, max_num=_MOST)


def _problems(entered: dict[str, Any]) -> list[str]:
    document, ref = entered["document"].document, entered["signer"].ref
    numbers = {name: entered[name] for name in ("x", "y", "width", "height")}
    stamp = CoordinatesStamp(type="coordinates", value=Rectangle(page_number=entered["page"], **numbers))
    problems = Problems()
    place(DocumentInput(id=document.pk, signers=[Assignment(signer_ref=ref, stamps=[stamp])]), "", document, problems)
    return [problem.sentence for problem in problems.named]


def _misfits(entered: dict[str, Any]) -> list[tuple[str, str]]:
    """Return which number takes the stamp off its page, and what it may be."""
    pages = entered["document"].document.pages
    if entered["page"] > len(pages):
        return [("page", _last_page(len(pages)))]
    width, height = pages[entered["page"] - 1]
    sides = [_misfit(entered, "x", "width", width), _misfit(entered, "y", "height", height)]
    return [side for side in sides if side] or [("x", _("The stamp does not fit on the page."))]


def _misfit(entered: dict[str, Any], start: str, length: str, room: float) -> tuple[str, str] | None:
    most = room - entered[length]
    if most < 0:
        return length, _("At most %(most)s: the page has no room for more.") % {"most": f"{room:.2f}"}
    if not 0 <= entered[start] <= most:
        return start, _("From 0 to %(most)s: beyond that, the stamp leaves the page.") % {
            "most": f"{int(most * 100) / 100:.2f}"
        }
    return None


def _last_page(count: int) -> str:
    return ngettext("The document has %(count)d page.", "The document has %(count)d pages.", count) % {"count": count}
