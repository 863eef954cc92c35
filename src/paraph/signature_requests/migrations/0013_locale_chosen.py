from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("signature_requests", "0012_sent_by"),
    ]

    operations = [
        migrations.AddField(
            model_name="signaturerequest",
            name="locale_chosen",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
