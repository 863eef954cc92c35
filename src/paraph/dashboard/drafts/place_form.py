"""What the forms of stamps and fields share: whose each is and where it stands, in points of the page as a reader sees
it, origin at the bottom left."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from paraph.drafts.models import Draft, DraftDocument, DraftSigner
from paraph.signature_requests.models import Role

MOST = 5_000  # of a draft: what the largest plan allows is refused by the payload's own limits
RECTANGLE = ("x", "y", "width", "height")


class SignerField(forms.ModelChoiceField):  # type: ignore[type-arg]  # Django's takes none where it runs
    def label_from_instance(self, obj: DraftSigner) -> str:
        return obj.ref


class DocumentField(forms.ModelChoiceField):  # type: ignore[type-arg]  # Django's takes none where it runs
    def label_from_instance(self, obj: DraftDocument) -> str:
        return f"{obj.position + 1}. {obj.document.name}"


class PlaceForm(forms.Form):
    signer = SignerField(DraftSigner.objects.none(), label=gettext_lazy("Signer"), empty_label=None)
    document = DocumentField(DraftDocument.objects.none(), label=gettext_lazy("Document"), empty_label=None)
    page = forms.IntegerField(label=gettext_lazy("Page"), min_value=1, max_value=100_000)
    x = forms.FloatField(label=gettext_lazy("X"))
    y = forms.FloatField(label=gettext_lazy("Y"))
    width = forms.FloatField(label=gettext_lazy("Width"))
    height = forms.FloatField(label=gettext_lazy("Height"))

    def __init__(self, *arguments: Any, draft: Draft, **more: Any) -> None:
        super().__init__(*arguments, **more)
        signers, documents = self.fields["signer"], self.fields["document"]
        assert isinstance(signers, SignerField) and isinstance(documents, DocumentField)
        signers.queryset = draft.signers.filter(role=Role.SIGNER)
        documents.queryset = draft.documents.select_related("document")
        for name in RECTANGLE:
            self.fields[name].widget.attrs["step"] = "any"

    def rectangle(self) -> dict[str, Any]:
        """Return what was entered by the names of the columns."""
        entered = self.cleaned_data
        return {"page_number": entered["page"], **{name: entered[name] for name in RECTANGLE}}

    def refuse_misfits(self) -> None:
        """Say which number takes it off its page, and what it may be."""
        entered = self.cleaned_data
        pages = entered["document"].document.pages
        if entered["page"] > len(pages):
            self.add_error("page", _last_page(len(pages)))
            return
        for name, start, room in zip(("width", "height"), ("x", "y"), pages[entered["page"] - 1], strict=True):
            if found := _misfit(entered, start, name, room):
                self.add_error(*found)


def _misfit(entered: dict[str, Any], start: str, length: str, room: float) -> tuple[str, str] | None:
    most = room - entered[length]
    if most < 0:
        return length, _("At most %(most)s: the page has no room for more.") % {"most": f"{room:.2f}"}
    if not 0 <= entered[start] <= most:
        return start, _("From 0 to %(most)s: beyond that, it leaves the page.") % {
            "most": f"{int(most * 100) / 100:.2f}"
        }
    return None


def _last_page(count: int) -> str:
    return ngettext("The document has %(count)d page.", "The document has %(count)d pages.", count) % {"count": count}
