"""Drops ``signature_requests_read``, which no version has called since 0007; it may run while the version before serves.

``signature_requests_shown`` (0007) and ``organizations_admit`` (organizations, 0003) stay for one release: the version
before calls them as long as its processes run beside those of this one. Their SQL now stands in
``signature_requests/reading.py`` and ``tenants/admission.py``.
"""

from importlib import import_module

from django.db import migrations

_read = import_module("paraph.signature_requests.migrations.0005_read")


class Migration(migrations.Migration):
    dependencies = [("signature_requests", "0008_encrypted")]
    operations = [migrations.RunSQL(_read.BACKWARD, _read.FORWARD)]
