"""What the forms of stamps and fields share: whose each is and where it stands, in points of the page as a reader sees
it, origin at the bottom left."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from paraph.drafts.models import Draft, DraftDocument, DraftSigner
from paraph.signature_requests.models import Role

MOST = 5_000  # of a draft: what the largest plan allows is refused by the payload's own limits
RECTANGLE = ("x", "y", "width", "height")


@dataclass(frozen=True)
class Choices:
    """Who signs a draft and what, by their primary keys: read once for all its forms."""

    signers: dict[int, DraftSigner]
    documents: dict[int, DraftDocument]

    @classmethod
    def of(cls, draft: Draft) -> "Choices":
        signers = draft.signers.filter(role=Role.SIGNER)
        return cls(signers.in_bulk(), draft.documents.select_related("document").in_bulk())


class PlaceForm(forms.Form):
    signer = forms.TypedChoiceField(label=gettext_lazy("Signer"))
    document = forms.TypedChoiceField(label=gettext_lazy("Document"))
    page = forms.IntegerField(label=gettext_lazy("Page"), min_value=1, max_value=100_000)
    x = forms.FloatField(label=gettext_lazy("X"))
    y = forms.FloatField(label=gettext_lazy("Y"))
    width = forms.FloatField(label=gettext_lazy("Width"))
    height = forms.FloatField(label=gettext_lazy("Height"))

    def __init__(self, *arguments: Any, choices: Choices, **more: Any) -> None:
        super().__init__(*arguments, **more)
        signers = sorted(choices.signers.values(), key=lambda each: each.position)
        documents = sorted(choices.documents.values(), key=lambda each: each.position)
        signer, document = self.fields["signer"], self.fields["document"]
        assert isinstance(signer, forms.TypedChoiceField) and isinstance(document, forms.TypedChoiceField)
        signer.choices = [(each.pk, each.ref) for each in signers]
        signer.coerce = partial(_one_of, choices.signers)
        document.choices = [(each.pk, f"{each.position + 1}. {each.document.name}") for each in documents]
        document.coerce = partial(_one_of, choices.documents)
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


def _one_of(rows: dict[int, Any], pk: str) -> Any:
    if int(pk) not in rows:
        raise ValueError(pk)
    return rows[int(pk)]


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
