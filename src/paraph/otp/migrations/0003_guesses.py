"""Guesses are counted for longer than a code lives, and across requests."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("otp", "0002_sent_at"),
    ]

    operations = [
        migrations.AddField(
            model_name="onetimecode",
            name="attempts_end_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="onetimecode",
            name="wrong_guesses",
            field=models.IntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="onetimecode",
            name="locked_until",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="onetimecode",
            name="destination_scope",
            field=models.BinaryField(null=True),
        ),
        migrations.CreateModel(
            name="WrongGuesses",
            fields=[
                ("scope", models.BinaryField(primary_key=True, serialize=False)),
                ("count", models.IntegerField()),
                ("ends_at", models.DateTimeField()),
            ],
        ),
    ]
