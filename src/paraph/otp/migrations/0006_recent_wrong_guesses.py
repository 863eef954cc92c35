from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("otp", "0005_replaced_hash")]

    operations = [
        migrations.AddField(
            model_name="onetimecode",
            name="recent_wrong_guesses",
            field=models.IntegerField(default=0, db_default=0),
        ),
        migrations.AddField(model_name="onetimecode", name="recent_end_at", field=models.DateTimeField(null=True)),
    ]
