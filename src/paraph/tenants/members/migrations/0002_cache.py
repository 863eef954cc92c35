"""The table of Django's cache, in which allauth counts attempts. Unlogged: a crash of the database starts it anew."""

from django.db import migrations

FORWARD = """
CREATE UNLOGGED TABLE members_cache (
    cache_key varchar(255) PRIMARY KEY,
    value text NOT NULL,
    expires timestamp with time zone NOT NULL
);
CREATE INDEX members_cache_expires ON members_cache (expires);
"""


class Migration(migrations.Migration):
    dependencies = [("members", "0001_initial")]
    operations = [migrations.RunSQL(FORWARD, "DROP TABLE members_cache")]
