"""The captured inbox: where messages land while no gateway is set."""

from django.db import models

from paraph.kernel import clock


class CapturedMessage(models.Model):
    """``message_id`` is the sender's name for the message, "" for none: one that is sent again after a
    crash is kept once."""

    to = models.CharField(max_length=320)
    channel = models.CharField(max_length=5)
    subject = models.CharField(max_length=500, blank=True)
    text = models.TextField()
    message_id = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["message_id"], condition=~models.Q(message_id=""), name="captured_message_once"
            )
        ]
