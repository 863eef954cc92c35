"""When signers first opened their page; may run while the version before serves, which writes none."""

from django.db import migrations, models
from django.db.models.deletion import PROTECT


class Migration(migrations.Migration):
    dependencies = [("signature_requests", "0009_drop_read")]
    operations = [
        migrations.CreateModel(
            name="FirstOpening",
            fields=[
                (
                    "signer",
                    models.OneToOneField(
                        on_delete=PROTECT,
                        primary_key=True,
                        related_name="first_opening",
                        serialize=False,
                        to="signature_requests.signer",
                    ),
                ),
                ("opened_at", models.DateTimeField()),
                ("ip", models.CharField(blank=True, max_length=45)),
            ],
        ),
    ]
