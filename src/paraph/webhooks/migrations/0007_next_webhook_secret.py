"""The columns of ``organizations.0012_administration`` for the rotation of webhook secrets, where it has not made them
itself: it did once, with those of another table."""

from django.db import migrations

FORWARD = """
ALTER TABLE organizations_application
    ADD COLUMN IF NOT EXISTS next_webhook_secret_encrypted bytea,
    ADD COLUMN IF NOT EXISTS next_webhook_secret_at timestamptz;
"""
BACKWARD = """
ALTER TABLE organizations_application
    DROP COLUMN IF EXISTS next_webhook_secret_encrypted,
    DROP COLUMN IF EXISTS next_webhook_secret_at;
"""


class Migration(migrations.Migration):
    dependencies = [("webhooks", "0006_delivery_caught"), ("organizations", "0012_administration")]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
