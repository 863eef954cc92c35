"""Drafts that ask something of their signers."""

from typing import Any

from paraph.drafts import editing
from paraph.drafts.models import Draft, Placed
from tests.drafts.author import Author

IBAN = {"name": "IBAN", "type": "text", "required": True, "max_length": 34}
PETS = {"name": "Pets", "type": "choice", "options": ["None", "A cat"], "required": False}
SIGNED_ON = {"name": "Date", "type": "signed_on"}
PLACE: dict[str, Any] = {"page_number": 1, "x": 60, "y": 500, "width": 160, "height": 18}


def asking(charles: Author, *contents: dict[str, Any], signers: int = 1) -> Draft:
    """One document; its first signer is asked these, one under the other."""
    draft = charles.draft(signers=signers)
    [document], signer = draft.files(), draft.signers[0]
    fields = [
        Placed(document, signer, **PLACE | {"y": 500 - 30 * number}, field=content)
        for number, content in enumerate(contents)
    ]
    editing.replace_places(draft, [*draft.places(), *fields])
    return draft
