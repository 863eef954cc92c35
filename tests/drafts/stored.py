"""What drafts say, as it is stored."""

from typing import Any

from paraph.drafts.models import Draft, DraftSigner, Placed


def stamps(draft: Draft | None = None) -> list[Placed]:
    """Return those of the draft, else of all drafts."""
    return [at for each in _stored(draft) for at in each.places() if at.field is None]


def fields(draft: Draft | None = None) -> list[Placed]:
    """Return those of the draft, else of all drafts."""
    return [at for each in _stored(draft) for at in each.places() if at.field]


def contents(draft: Draft | None = None) -> list[dict[str, Any]]:
    """Return what its fields ask, else those of all drafts."""
    return [at.field for at in fields(draft) if at.field]


def signers(draft: Draft | None = None) -> list[DraftSigner]:
    """Return those of the draft, else of all drafts."""
    return [signer for each in _stored(draft) for signer in each.signers]


def change(draft: Draft | None = None, **options: Any) -> None:
    """Give the draft, else all drafts, these parts of the content."""
    for each in _stored(draft):
        each.content |= options
        each.save()


def change_signers(draft: Draft | None = None, **known: Any) -> None:
    """Give all signers of the draft, else of all drafts, these."""
    for each in _stored(draft):
        change(each, signers=[signer | known for signer in each.content["signers"]])


def unplaced(draft: Draft | None = None) -> None:
    """Take all stamps and fields away."""
    for each in _stored(draft):
        each.place([])


def _stored(draft: Draft | None) -> list[Draft]:
    return list(Draft.objects.filter(pk=draft.pk) if draft else Draft.objects.order_by("pk"))
