from django.apps import AppConfig


class TenantsConfig(AppConfig):
    name = "paraph.tenants"
    label = "organizations"
