"""The words of django-allauth that the service says in its own way."""

from django.apps import AppConfig


class AccountWordsConfig(AppConfig):
    """An application of Django's for its catalogs alone: ``locale/pt`` is a copy of allauth's ``locale/pt_PT``, the
    European Portuguese that the service has as ``pt``; ``locale/en`` has the English words that are other than
    allauth's, so that one thing has one name in the whole dashboard."""

    name = "paraph.dashboard.account"
    label = "account_words"
