"""Drafts that ask something of their signers."""

from typing import Any

from paraph.drafts import editing
from paraph.drafts.models import Draft, DraftField
from tests.drafts.author import Author

IBAN = {"name": "IBAN", "type": "text", "required": True, "max_length": 34}
PETS = {"name": "Pets", "type": "choice", "options": ["None", "A cat"], "required": False}
SIGNED_ON = {"name": "Date", "type": "signed_on"}
PLACE: dict[str, Any] = {"page_number": 1, "x": 60, "y": 500, "width": 160, "height": 18}


def asking(charles: Author, *contents: dict[str, Any], signers: int = 1) -> Draft:
    """One document; its first signer is asked these, one under the other."""
    draft = charles.draft(signers=signers)
    row = draft.documents.get()
    fields = [
        DraftField(document=row, signer=draft.signers.all()[0], content=content, **PLACE | {"y": 500 - 30 * number})
        for number, content in enumerate(contents)
    ]
    editing.replace_places(draft, draft.places().stamps, fields)
    return draft
