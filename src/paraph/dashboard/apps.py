"""The dashboard as an application of Django, with the signals that it listens to."""

from django.apps import AppConfig


class DashboardConfig(AppConfig):
    name = "paraph.dashboard"

    def ready(self) -> None:
        from paraph.dashboard.account.changes import listen  # noqa: PLC0415  models must be there first

        listen()
