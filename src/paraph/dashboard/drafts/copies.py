"""Who gets a copy of what was signed: a list of its own beside the signers of a draft."""

from typing import Any, TypeAlias

from django import forms
from django.http import QueryDict

from paraph.dashboard.drafts.signer_form import PersonForm
from paraph.drafts.models import Draft
from paraph.signature_requests.input import MOST_COPIES

Copies: TypeAlias = "forms.BaseFormSet[PersonForm]"
_FIELDS = ("first_name", "last_name", "email")
_Forms = forms.formset_factory(PersonForm, extra=1, can_delete=True, absolute_max=MOST_COPIES + 1, max_num=MOST_COPIES)


def unbound(draft: Draft) -> Copies:
    return _Forms(initial=draft.more_options.get("copies", []), prefix="copy")


def bound(entered: QueryDict) -> "Copies | None":
    """Return the list as it was entered, None where the form says nothing of copies, which then stay as they are.
    Button: "Remove" at each."""
    if "copy-TOTAL_FORMS" not in entered:
        return None
    content = entered.copy()
    if (removed := content.get("remove-copy", "")).isdecimal():
        content[f"copy-{int(removed)}-DELETE"] = "on"
    return _Forms(content, prefix="copy")


def keep(draft: Draft, copies: Copies) -> None:
    """Keep the list with the options of the payload. Does not save the draft."""
    people: list[dict[str, Any]] = [
        {name: form.cleaned_data[name] for name in _FIELDS}
        for form in copies
        if form.cleaned_data.get("email") and not form.cleaned_data.get("DELETE")
    ]
    others = {name: each for name, each in draft.more_options.items() if name != "copies"}
    draft.more_options = others | ({"copies": people} if people else {})
