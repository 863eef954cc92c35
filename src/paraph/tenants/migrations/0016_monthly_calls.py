import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("organizations", "0015_key_usage")]
    operations = [
        migrations.CreateModel(
            name="MonthlyCalls",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "organization_id",
                        "environment",
                        "month",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                (
                    "environment",
                    models.CharField(choices=[("sandbox", "Sandbox"), ("production", "Production")], max_length=10),
                ),
                ("month", models.DateField()),
                ("calls", models.BigIntegerField()),
                (
                    "organization",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="organizations.organization",
                    ),
                ),
            ],
        ),
        # Room for new versions of a row on its own page: it changes with every call.
        migrations.RunSQL("ALTER TABLE organizations_monthlycalls SET (fillfactor = 50);", migrations.RunSQL.noop),
    ]
