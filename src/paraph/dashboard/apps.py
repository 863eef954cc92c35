"""The dashboard as an application of Django: what it listens to."""

from django.apps import AppConfig


class DashboardConfig(AppConfig):
    name = "paraph.dashboard"

    def ready(self) -> None:
        from paraph.dashboard.account.changes import listen

        listen()
