"""The words of django-allauth in European Portuguese, which it has as ``pt-PT`` and the service as ``pt``."""

from django.apps import AppConfig


class AccountWordsConfig(AppConfig):
    """An application of Django's for its catalog alone: ``locale/pt`` is a copy of allauth's ``locale/pt_PT``."""

    name = "paraph.dashboard.account"
    label = "account_words"
