"""The form of the names of a template and its roles."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from paraph.request_templates.bulk.columns import folded
from paraph.request_templates.saving import Names


class NamesForm(forms.Form):
    """``roles``: for each role the label of its field and its name so far."""

    name = forms.CharField(label=_("Name"), max_length=200)

    def __init__(self, *arguments: Any, roles: Sequence[tuple[str, str]], **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._fields = [f"role-{index}" for index in range(len(roles))]
        for field, (label, name) in zip(self._fields, roles, strict=True):
            self.fields[field] = forms.CharField(label=label, max_length=100, initial=name)

    def clean(self) -> dict[str, Any]:
        """Refuse a name that two have: the columns of a CSV name the roles."""
        seen: set[str] = set()
        for field in self._fields:
            name = folded(self.cleaned_data.get(field, ""))
            if name in seen and field not in self.errors:
                self.add_error(field, _("Another role already has this name."))
            elif not name and field not in self.errors:
                self.add_error(field, _("The name of a role must contain a letter or a number."))
            seen.add(name)
        return self.cleaned_data

    def names(self) -> Names:
        return Names(self.cleaned_data["name"], [self.cleaned_data[field] for field in self._fields])
