"""One-time codes and the guesses made at them."""

from django.db import models

from paraph.kernel import clock
from paraph.signature_requests.models import Channel, Signer


class OneTimeCode(models.Model):
    """One row per signer: the newest code, by keyed hash, and the guesses made at it. A new code replaces
    the old one and its guesses; ``sends`` counts the codes of the window that began at ``window_began_at``.
    ``sent_at`` is set once the gateway has taken the newest code, ``ever_sent`` once it has taken any.
    """

    signer = models.OneToOneField(Signer, models.PROTECT, primary_key=True, related_name="code")
    code_hash = models.BinaryField()
    channel = models.CharField(max_length=5, choices=Channel)
    destination = models.CharField(max_length=320)
    created_at = models.DateTimeField(default=clock.now)
    expires_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True)
    ever_sent = models.BooleanField(default=False)
    sends = models.SmallIntegerField(default=1)
    window_began_at = models.DateTimeField(default=clock.now)
    attempts = models.SmallIntegerField(default=0)
    used_at = models.DateTimeField(null=True)
