from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Count",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "scope", "seconds", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("scope", models.CharField(max_length=80)),
                ("seconds", models.IntegerField()),
                ("ends_at", models.DateTimeField(db_index=True)),
                ("count", models.BigIntegerField()),
            ],
        ),
        # Room for new versions of a row on its own page: it changes with everything that is counted.
        migrations.RunSQL("ALTER TABLE counts_count SET (fillfactor = 50)"),
    ]
