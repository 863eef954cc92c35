"""Accounts of people, their memberships in organizations, and invitations (specification 2.4, 8)."""

from collections.abc import Iterator
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, BaseUserManager
from django.db import models
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy

from paraph.kernel import clock
from paraph.tenants.models import Organization

_SESSION_SALT = "django.contrib.auth.models.AbstractBaseUser.get_session_auth_hash"


class UserManager(BaseUserManager["User"]):
    def get_by_natural_key(self, username: str | None) -> "User":
        return self.get(email=(username or "").lower())


class User(AbstractBaseUser):
    """An account, whose name is its e-mail address in lower case. Without a usable password until one is set by a
    link."""

    email = models.CharField(max_length=320, unique=True)
    name = models.CharField(max_length=200, blank=True)
    language = models.CharField(max_length=5, default="", blank=True)
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=clock.now)

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []
    objects = UserManager()

    def get_session_auth_hash(self) -> str:
        """As Django's, by the secret in use, so that machines which do not know a newer one yet accept the session."""
        return self._session_hashes()[0]

    def get_session_auth_fallback_hash(self) -> Iterator[str]:
        yield from self._session_hashes()[1:]

    def _session_hashes(self) -> list[str]:
        keys = (key.hex() for key in settings.SECRETS.keys("django"))
        return [salted_hmac(_SESSION_SALT, self.password, secret=key, algorithm="sha256").hexdigest() for key in keys]

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.email = self.email.strip().lower()
        super().save(*args, **kwargs)


class Role(models.TextChoices):
    OWNER = "owner", gettext_lazy("Owner")
    ADMIN = "admin", gettext_lazy("Admin")
    MEMBER = "member", gettext_lazy("Member")
    OBSERVER = "observer", gettext_lazy("Observer")


class Member(models.Model):
    """A user in an organization, with one role."""

    organization = models.ForeignKey(Organization, models.CASCADE, related_name="members")
    user = models.ForeignKey(User, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role)
    joined_at = models.DateTimeField(default=clock.now)
    last_seen_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organization", "user"], name="member_once")]


class MailKind(models.TextChoices):
    """What the sender of a request is told by mail."""

    COMPLETED = "completed", gettext_lazy("Everybody has signed")
    ASKED = "asked", gettext_lazy("A signer asks something, or does not want to sign")
    EXPIRING = "expiring", gettext_lazy("A request is about to expire (three days before, and one)")
    UNDELIVERED = "undelivered", gettext_lazy("An invitation could not be delivered")


class MutedMail(models.Model):
    """A kind of mails that somebody does not want."""

    user = models.ForeignKey(User, models.CASCADE, related_name="muted_mails")
    kind = models.CharField(max_length=12, choices=MailKind)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "kind"], name="muted_once")]


class Invitation(models.Model):
    """An address that was asked to join. The link is known by the SHA-256 of its secret; a resend makes a new one.

    Open until it is accepted or withdrawn, and its link valid until ``expires_at``.
    """

    organization = models.ForeignKey(Organization, models.CASCADE, related_name="invitations")
    email = models.CharField(max_length=320)
    role = models.CharField(max_length=10, choices=Role)
    invited_by = models.ForeignKey(Member, models.SET_NULL, null=True, related_name="+")
    secret_sha256 = models.BinaryField(unique=True)
    created_at = models.DateTimeField(default=clock.now)
    sent_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True)
    withdrawn_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["organization", "email"],
                condition=models.Q(accepted_at=None, withdrawn_at=None),
                name="open_invitation_once",
            )
        ]


class InvitationResend(models.Model):
    """An invitation that was sent again, kept for an hour to count it: to whom, and from which network."""

    organization = models.ForeignKey(Organization, models.CASCADE, related_name="+")
    email = models.CharField(max_length=320)
    network = models.CharField(max_length=49)
    sent_at = models.DateTimeField()
