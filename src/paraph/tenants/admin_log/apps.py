from django.apps import AppConfig


class AdminLogConfig(AppConfig):
    name = "paraph.tenants.admin_log"
    label = "activity"
