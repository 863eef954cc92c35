import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("members", "0002_cache"), ("organizations", "0011_frame_origins")]
    operations = [
        migrations.CreateModel(
            name="InvitationResend",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("email", models.CharField(max_length=320)),
                ("network", models.CharField(max_length=49)),
                ("sent_at", models.DateTimeField()),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="organizations.organization"
                    ),
                ),
            ],
        ),
    ]
