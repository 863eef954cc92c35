"""The captured inbox, where messages land that no gateway takes; how many were sent, and which wait for room."""

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


class MessageCount(models.Model):
    """How many messages were ``asked`` for in the window of ``seconds`` that ``began_at`` that moment. ``scope`` says
    whose: no address or number stands in it, only a keyed hash.

    The table is unlogged: a crash of the database starts the counts anew, and nothing else is lost.
    """

    pk = models.CompositePrimaryKey("scope", "seconds")
    scope = models.CharField(max_length=80)
    seconds = models.IntegerField()
    began_at = models.DateTimeField()
    asked = models.BigIntegerField()


class PutOffMail(models.Model):
    """That the mail of this ``name`` waits for room below a ceiling, until when at least, and below which."""

    name = models.CharField(max_length=200, primary_key=True)
    until = models.DateTimeField()
    reason = models.CharField(max_length=200)
