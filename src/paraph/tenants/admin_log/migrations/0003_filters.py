from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("activity", "0002_append_only")]
    operations = [
        migrations.AlterField(
            model_name="activity",
            name="actor_kind",
            field=models.CharField(
                choices=[
                    ("member", "Member"),
                    ("operator", "Operator"),
                    ("service", "Service"),
                    ("signer", "Signer"),
                ],
                max_length=10,
            ),
        ),
        migrations.AddIndex(
            model_name="activity",
            index=models.Index(fields=["organization", "actor", "position"], name="activity_by_actor"),
        ),
        migrations.AddIndex(
            model_name="activity",
            index=models.Index(fields=["organization", "action", "position"], name="activity_by_action"),
        ),
    ]
