"""Names the model of daily counts; its table keeps the name that the triggers and earlier versions know."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("organizations", "0007_confirmed_address")]
    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterModelTable("tally", "organizations_tally"),
                migrations.RenameModel("Tally", "DailyCount"),
            ]
        )
    ]
