"""One-time codes and the guesses made at them."""

from django.db import models

from paraph.kernel import clock
from paraph.signature_requests.models import Channel, Signer


class OneTimeCode(models.Model):
    """One row per signer: the newest code that was sent, as a keyed hash, and the wrong guesses at all codes of this
    signer.

    A new code replaces the old one once it is sent, and has ``attempts`` of its own, but not the counts of wrong
    guesses: ``wrong_guesses`` since the request was created, and ``recent_wrong_guesses`` in the day that ends at
    ``recent_end_at``. Until ``locked_until`` no code is sent or taken. ``sends`` counts the codes in the window that
    began at ``window_began_at``, those on their way as well. ``sent_at`` is None, and ``ever_sent`` false, until the
    gateway has taken one. ``destination_scope`` is where wrong codes to the destination are counted. ``replaced_hash``
    is the hash of the code sent before the newest, so that somebody who enters it can be told.
    """

    signer = models.OneToOneField(Signer, models.PROTECT, primary_key=True, related_name="code")
    code_hash = models.BinaryField()
    replaced_hash = models.BinaryField(null=True)
    channel = models.CharField(max_length=5, choices=Channel)
    destination = models.CharField(max_length=320)
    created_at = models.DateTimeField(default=clock.now)
    expires_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True)
    ever_sent = models.BooleanField(default=False)
    sends = models.SmallIntegerField(default=1)
    window_began_at = models.DateTimeField(default=clock.now)
    attempts = models.SmallIntegerField(default=0)
    wrong_guesses = models.IntegerField(default=0, db_default=0)
    recent_wrong_guesses = models.IntegerField(default=0, db_default=0)
    recent_end_at = models.DateTimeField(null=True)
    locked_until = models.DateTimeField(null=True)
    destination_scope = models.CharField(max_length=80, blank=True, default="")
    used_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["used_at"], condition=models.Q(used_at__isnull=False, wrong_guesses=0), name="code_to_forget"
            )
        ]


class RefusedCode(models.Model):
    """A wrong code that a signer entered, stated in the proof alone: the journal has no such event."""

    signer = models.ForeignKey(Signer, models.PROTECT, related_name="+")
    refused_at = models.DateTimeField()
