"""The captured inbox: where messages land while no gateway is set."""

from django.db import models

from paraph.kernel import clock


class CapturedMessage(models.Model):
    to = models.CharField(max_length=320)
    channel = models.CharField(max_length=5)
    subject = models.CharField(max_length=500, blank=True)
    text = models.TextField()
    created_at = models.DateTimeField(default=clock.now)
