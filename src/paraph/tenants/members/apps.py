from django.apps import AppConfig


class MembersConfig(AppConfig):
    name = "paraph.tenants.members"
    label = "members"
