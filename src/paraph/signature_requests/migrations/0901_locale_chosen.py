from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("signature_requests", "0011_inquiry"),
    ]

    operations = [
        migrations.AddField(
            model_name="signaturerequest",
            name="locale_chosen",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
