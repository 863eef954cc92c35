"""What is stored of drafts: of the one that is given, else of all."""

from typing import Any

from paraph.drafts.models import Draft, DraftSigner, Placed


def stamps(draft: Draft | None = None) -> list[Placed]:
    return [at for each in _stored(draft) for at in each.places() if at.field is None]


def fields(draft: Draft | None = None) -> list[Placed]:
    return [at for each in _stored(draft) for at in each.places() if at.field]


def contents(draft: Draft | None = None) -> list[dict[str, Any]]:
    return [at.field for at in fields(draft) if at.field]


def signers(draft: Draft | None = None) -> list[DraftSigner]:
    return [signer for each in _stored(draft) for signer in each.signers]


def change(draft: Draft | None = None, **options: Any) -> None:
    for each in _stored(draft):
        each.content |= options
        each.save()


def change_signers(draft: Draft | None = None, **known: Any) -> None:
    for each in _stored(draft):
        change(each, signers=[signer | known for signer in each.content["signers"]])


def unplaced(draft: Draft | None = None) -> None:
    for each in _stored(draft):
        each.place([])


def _stored(draft: Draft | None) -> list[Draft]:
    return list(Draft.objects.filter(pk=draft.pk) if draft else Draft.objects.order_by("pk"))
