"""Signatures and initials are encrypted. The columns of before stay for rows that are not yet; the index finds those,
and is empty once there are none."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("signature_requests", "0007_shown")]
    operations = [
        migrations.AddField("signer", "signature_encrypted", models.BinaryField(null=True)),
        migrations.AddField("signer", "initials_encrypted", models.BinaryField(null=True)),
        migrations.AddIndex(
            "signer",
            models.Index(
                fields=["id"],
                condition=models.Q(signature__isnull=False) | models.Q(initials__isnull=False),
                name="signer_unencrypted",
            ),
        ),
    ]
