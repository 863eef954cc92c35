from django.apps import AppConfig


class AuditTrailConfig(AppConfig):
    name = "paraph.audit_trail"
    label = "journal"
