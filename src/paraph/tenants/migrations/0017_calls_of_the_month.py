from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("organizations", "0016_monthly_calls")]
    operations = [
        migrations.AddField("usage", "month", models.DateField(null=True)),
        migrations.AddField("usage", "month_calls", models.BigIntegerField(default=0, db_default=0)),
        migrations.AddField("usage", "earlier_month", models.DateField(null=True)),
        migrations.AddField("usage", "earlier_calls", models.BigIntegerField(default=0, db_default=0)),
    ]
