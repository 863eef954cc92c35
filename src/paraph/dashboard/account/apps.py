"""django-allauth as the service uses it: its words, and those of its signals that are noted in the activity log."""

from django.apps import AppConfig


class AccountConfig(AppConfig):
    """A Django application, for its message catalogs: ``locale/pt`` is a copy of allauth's ``locale/pt_PT``, the
    European Portuguese that the service has as ``pt``; ``locale/en`` has the English words that differ from allauth's,
    so that one thing has one name in the whole dashboard."""

    name = "paraph.dashboard.account"
    label = "account_words"

    def ready(self) -> None:
        from paraph.dashboard.account.adapter import listen  # noqa: PLC0415  models must be there first

        listen()
