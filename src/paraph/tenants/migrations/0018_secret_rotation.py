"""What is known of earlier secrets once the secret was rotated."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("organizations", "0017_calls_of_the_month"),
    ]

    operations = [
        migrations.AddField("installation", "secret_since", models.DateTimeField(null=True)),
        migrations.AddField("installation", "earlier_link_keys", models.JSONField(null=True)),
    ]
