"""The one table of counts."""

from django.db import models


class Count(models.Model):
    """How often something of this ``scope`` happened in the window of ``seconds`` that ends at ``ends_at``. A scope
    begins with what is counted, and holds a keyed hash in place of an address or number."""

    pk = models.CompositePrimaryKey("scope", "seconds")
    scope = models.CharField(max_length=80)
    seconds = models.IntegerField()
    ends_at = models.DateTimeField(db_index=True)
    count = models.BigIntegerField()
