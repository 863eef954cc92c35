from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("organizations", "0012_administration"),
    ]

    operations = [
        migrations.CreateModel(
            name="Installation",
            fields=[
                ("id", models.SmallIntegerField(primary_key=True, serialize=False)),
                ("secret_fingerprint", models.BinaryField()),
            ],
        ),
    ]
