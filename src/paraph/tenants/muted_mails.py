"""Which mails about their requests somebody wants: all, unless they turned some off."""

from collections.abc import Collection

from django.db import transaction

from paraph.tenants.models import MailKind, MutedMail, User


def wanted_mails(user: User) -> list[str]:
    """Returns the kinds that are not turned off."""
    muted = set(user.muted_mails.values_list("kind", flat=True))
    return [kind.value for kind in MailKind if kind not in muted]


def wants(user: User, kind: str) -> bool:
    return not MutedMail.objects.filter(user=user, kind=kind).exists()


@transaction.atomic
def mute_all_but(user: User, wanted: Collection[str]) -> None:
    """Turns all other kinds off, and these on."""
    user.muted_mails.filter(kind__in=wanted).delete()
    unwanted = [MutedMail(user=user, kind=kind) for kind in MailKind if kind not in wanted]
    MutedMail.objects.bulk_create(unwanted, ignore_conflicts=True)
