"""What stands on the documents of drafts, as it is stored."""

from paraph.drafts.models import Draft, DraftField, DraftStamp


def stamps(draft: Draft | None = None) -> list[DraftStamp]:
    """Return those of the draft, else of all drafts."""
    return [stamp for each in _stored(draft) for stamp in each.places().stamps]


def fields(draft: Draft | None = None) -> list[DraftField]:
    """Return those of the draft, else of all drafts."""
    return [field for each in _stored(draft) for field in each.places().fields]


def _stored(draft: Draft | None) -> list[Draft]:
    return list(Draft.objects.filter(pk=draft.pk) if draft else Draft.objects.order_by("pk"))
