"""Django-allauth as the service has it: its words, and the signals of it that are noted."""

from django.apps import AppConfig


class AccountConfig(AppConfig):
    """An application of Django's for its catalogs: ``locale/pt`` is a copy of allauth's ``locale/pt_PT``, the European
    Portuguese that the service has as ``pt``; ``locale/en`` has the English words that are other than allauth's, so
    that one thing has one name in the whole dashboard."""

    name = "paraph.dashboard.account"
    label = "account_words"

    def ready(self) -> None:
        from paraph.dashboard.account.adapter import listen  # noqa: PLC0415  models must be there first

        listen()
