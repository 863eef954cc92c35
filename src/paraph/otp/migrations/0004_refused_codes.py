"""Wrong codes with their times; may run while the version before serves, which writes none."""

from django.db import migrations, models
from django.db.models.deletion import PROTECT


class Migration(migrations.Migration):
    dependencies = [("otp", "0003_guesses"), ("signature_requests", "0009_drop_read")]
    operations = [
        migrations.CreateModel(
            name="RefusedCode",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("refused_at", models.DateTimeField()),
                (
                    "signer",
                    models.ForeignKey(on_delete=PROTECT, related_name="+", to="signature_requests.signer"),
                ),
            ],
        ),
    ]
