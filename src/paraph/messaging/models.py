"""The captured inbox, the mails that wait for room below a ceiling, and addresses that refuse mails about accounts."""

from django.db import models
from django.db.models.functions import Upper

from paraph.kernel import clock


class CapturedMessage(models.Model):
    """A message that was captured instead of sent; an SMS has no ``html``. Only one of several messages with the same
    ``message_id`` ("" for none) is kept, for example when a message is sent again after a crash."""

    to = models.CharField(max_length=320)
    channel = models.CharField(max_length=5)
    subject = models.CharField(max_length=500, blank=True)
    text = models.TextField()
    html = models.TextField(blank=True, default="", db_default="")
    message_id = models.CharField(max_length=200, blank=True, db_collation="C")  # looked up by prefix
    created_at = models.DateTimeField(default=clock.now, db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["message_id"], condition=~models.Q(message_id=""), name="captured_message_once"
            )
        ]
        indexes = [models.Index(Upper("to"), name="captured_message_by_address")]


class PutOffMail(models.Model):
    """A mail that waits for room below a ceiling (``reason``), at least until the time ``until``."""

    name = models.CharField(max_length=200, primary_key=True)
    until = models.DateTimeField()
    reason = models.CharField(max_length=200)


class RefusedAddress(models.Model):
    """The hash of an address to which the newest mail about an account was refused for good; ``answer``: what the mail
    server said."""

    destination = models.CharField(max_length=32, primary_key=True)
    answer = models.CharField(max_length=200)
    at = models.DateTimeField(default=clock.now, db_index=True)
