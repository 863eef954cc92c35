"""Organizations and what belongs to them, accounts of people, memberships and invitations (rules 2.4, 2.6, 5.1,
8)."""

from collections.abc import Iterator
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, BaseUserManager
from django.db import models
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy

from paraph.kernel import clock

_SESSION_SALT = "django.contrib.auth.models.AbstractBaseUser.get_session_auth_hash"


class Plan(models.TextChoices):
    FREE = "free"
    PRO = "pro"
    ENTERPRISE = "enterprise"


class Environment(models.TextChoices):
    SANDBOX = "sandbox", gettext_lazy("Sandbox")
    PRODUCTION = "production", gettext_lazy("Production")


class Organization(models.Model):
    """A customer of the service. ``refuse_changeable_documents``: in production, refuse documents that print otherwise
    than they are shown, or that can change what they show. ``mails_copy_links``: the summary at completion has a link
    with which the signer downloads the sealed documents and the proof. ``contact_email``: where inquiries of signers
    go; without it they cannot ask. ``esign_disclosure``: signers read the disclosure of the US ESIGN Act, which names
    that address, before they consent. ``web_application``: the production application that gets the webhooks of
    requests sent from the dashboard, and whose sites may show their signing pages in a frame; null for none.
    ``request_defaults``: the default options of requests that members create in the dashboard
    (:mod:`paraph.tenants.organizations`); null for none.

    ``suspended_at``: since when its API keys are refused (:mod:`paraph.tenants.lifecycle`). ``deleted_at``: since
    when it is treated as if it did not exist."""

    name = models.CharField(max_length=200)
    plan = models.CharField(max_length=10, choices=Plan)
    refuse_changeable_documents = models.BooleanField(default=False, db_default=False)
    mails_copy_links = models.BooleanField(default=True, db_default=True)
    esign_disclosure = models.BooleanField(default=False, db_default=False)
    contact_email = models.CharField(max_length=320, default="", db_default="", blank=True)
    web_application = models.ForeignKey(
        "Application", models.SET_NULL, null=True, related_name="+", db_constraint=False, db_index=False
    )
    request_defaults: "models.JSONField[Any, Any]" = models.JSONField(null=True)
    suspended_at = models.DateTimeField(null=True)
    deleted_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=clock.now)


class Application(models.Model):
    """An external application, to which API keys and a webhook URL belong. ``frame_origins``: the sites that may show
    its signing pages in a frame, separated by spaces; any if empty. ``next_webhook_secret_encrypted`` replaces
    ``webhook_secret_encrypted`` at ``next_webhook_secret_at``
    (:func:`paraph.tenants.applications.rotate_application`); both are null unless the secret was rotated."""

    organization = models.ForeignKey(Organization, models.PROTECT, related_name="applications")
    environment = models.CharField(max_length=10, choices=Environment)
    name = models.CharField(max_length=200)
    webhook_url = models.URLField(max_length=2000, blank=True)
    webhook_secret_encrypted = models.BinaryField()
    next_webhook_secret_encrypted = models.BinaryField(null=True)
    next_webhook_secret_at = models.DateTimeField(null=True)
    frame_origins = models.TextField(default="", db_default="", blank=True)
    created_at = models.DateTimeField(default=clock.now)


class ApiKey(models.Model):
    """An API key, stored as its SHA-256; the key itself is shown once and never stored (rule 5.1). It is refused from
    ``revoked_at`` on, which is in the future while another key is replacing it."""

    application = models.ForeignKey(Application, models.PROTECT, related_name="keys")
    sha256 = models.BinaryField(unique=True)
    created_at = models.DateTimeField(default=clock.now)
    revoked_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)


class BrandingProfile(models.Model):
    """Colours of the signer journey, for both environments (rule 2.4). ``signature_only``: stamps of requests made with
    it have neither line nor words. Nothing new may use a deleted one; its row stays for requests that have it."""

    organization = models.ForeignKey(Organization, models.PROTECT, related_name="branding_profiles")
    name = models.CharField(max_length=200)
    background_color = models.CharField(max_length=7)
    text_color = models.CharField(max_length=7)
    accent_color = models.CharField(max_length=7)
    signature_only = models.BooleanField(default=False, db_default=False)
    deleted_at = models.DateTimeField(null=True)


class Logo(models.Model):
    """The logo of a branding profile, a PNG in the store; ``width`` and ``height`` are in pixels."""

    profile = models.OneToOneField(BrandingProfile, models.CASCADE, primary_key=True, related_name="logo")
    object_key = models.CharField(max_length=200, unique=True)
    sha256 = models.BinaryField()
    file_size = models.IntegerField()
    width = models.SmallIntegerField()
    height = models.SmallIntegerField()


class Retention(models.Model):
    """For how many ``days`` after a request's end files are kept, and for how many ``people_days`` people; null or no
    row means for ever. ``people_forgotten``: in how many requests people were forgotten since the last log entry."""

    pk = models.CompositePrimaryKey("organization_id", "environment")
    organization = models.ForeignKey(Organization, models.CASCADE, related_name="+")
    environment = models.CharField(max_length=10, choices=Environment)
    days = models.IntegerField()
    people_days = models.IntegerField(null=True)
    people_forgotten = models.BigIntegerField(default=0, db_default=0)


class Usage(models.Model):
    """Calls of an organization in an environment, in the newest minute and hour (counted from the epoch).
    ``month_calls`` of ``month`` (its first day, UTC) and ``earlier_calls`` of ``earlier_month`` are those that
    :class:`MonthlyCalls` has not taken over yet. The table is unlogged: a crash of the database starts the counters
    anew, and nothing else is lost."""

    pk = models.CompositePrimaryKey("organization_id", "environment")
    organization = models.ForeignKey(Organization, models.CASCADE, related_name="+")
    environment = models.CharField(max_length=10, choices=Environment)
    minute = models.BigIntegerField()
    minute_calls = models.BigIntegerField()
    hour = models.BigIntegerField()
    hour_calls = models.BigIntegerField()
    month = models.DateField(null=True)
    month_calls = models.BigIntegerField(default=0, db_default=0)
    earlier_month = models.DateField(null=True)
    earlier_calls = models.BigIntegerField(default=0, db_default=0)


class KeyUsage(models.Model):
    """``calls`` with a key in the newest ``hour`` of its use (counted from the epoch), and ``calls_before`` in the hour
    before that. The table is unlogged, like that of :class:`Usage`."""

    key = models.OneToOneField(ApiKey, models.CASCADE, primary_key=True, related_name="usage")
    hour = models.BigIntegerField()
    calls = models.BigIntegerField()
    calls_before = models.BigIntegerField()


class Storage(models.Model):
    """Bytes of all files of a tenant: uploads and files that replace them, sealed documents, proofs. Triggers on the
    tables of these files keep it up to date (docs/decisions/storage-limits.md); nothing else writes it."""

    pk = models.CompositePrimaryKey("organization_id", "environment")
    organization = models.ForeignKey(Organization, models.CASCADE, related_name="+")
    environment = models.CharField(max_length=10, choices=Environment)
    bytes = models.BigIntegerField()


class DailyCount(models.Model):
    """How many rows of a resource a tenant has, by day of creation (UTC) and status, so that lists need not count.
    Triggers on the resources' tables keep it up to date (docs/decisions/long-lists.md); nothing else writes it."""

    pk = models.CompositePrimaryKey("organization_id", "environment", "resource", "day", "status")
    organization = models.ForeignKey(Organization, models.CASCADE, related_name="+")
    environment = models.CharField(max_length=10, choices=Environment)
    resource = models.CharField(max_length=20)
    day = models.DateField()
    status = models.CharField(max_length=10)
    count = models.BigIntegerField()

    class Meta:
        db_table = "organizations_tally"


class ConfirmedAddress(models.Model):
    """An address or number, in lower case, that was asked whether messages of this organization's sandbox may go to it.
    ``asked_at``: when it was last asked; ``confirmed_at`` is None until it has agreed."""

    organization = models.ForeignKey(Organization, models.CASCADE, related_name="confirmed_addresses")
    address = models.CharField(max_length=320)
    asked_at = models.DateTimeField(default=clock.now)
    confirmed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organization", "address"], name="confirmed_address_once")]


class Installation(models.Model):
    """The only row, with what all machines of the installation must agree on. ``secret_fingerprint`` is that of the
    secret in use; ``secret_since``: since when, null for the first secret. ``earlier_link_keys``: an entry for each
    earlier secret, in order (:mod:`paraph.tenants.installation`). ``timeline``: that of PostgreSQL on which ids are
    given out (``organizations_follow_timeline``); null before the first connection, 0 for that of another server."""

    id = models.SmallIntegerField(primary_key=True)
    secret_fingerprint = models.BinaryField()
    secret_since = models.DateTimeField(null=True)
    earlier_link_keys: "models.JSONField[Any, Any]" = models.JSONField(default=list)
    timeline = models.BigIntegerField(null=True)


class MonthlyCalls(models.Model):
    """How many calls with a valid key an organization made in an environment in a month (its first day, UTC), but for
    those of the last minutes, which :class:`Usage` still holds."""

    pk = models.CompositePrimaryKey("organization_id", "environment", "month")
    organization = models.ForeignKey(Organization, models.CASCADE, related_name="+", db_index=False)
    environment = models.CharField(max_length=10, choices=Environment)
    month = models.DateField()
    calls = models.BigIntegerField()


class UserManager(BaseUserManager["User"]):
    def get_by_natural_key(self, username: str | None) -> "User":
        return self.get(email=(username or "").lower())


class User(AbstractBaseUser):
    """An account, identified by its e-mail address in lower case. It may have no usable password until one is set with
    a link."""

    email = models.CharField(max_length=320, unique=True)
    name = models.CharField(max_length=200, blank=True)
    language = models.CharField(max_length=5, default="", blank=True)
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=clock.now)

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []
    objects = UserManager()

    class Meta:
        db_table = "members_user"

    def get_session_auth_hash(self) -> str:
        """Return Django's hash, but by the secret in use, so that machines that do not know a newer secret yet accept
        the session."""
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
    """A user in an organization, with one role. ``last_language``: the language of the dashboard at their last visit
    there, "" before the first."""

    organization = models.ForeignKey(Organization, models.CASCADE, related_name="members")
    user = models.ForeignKey(User, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role)
    joined_at = models.DateTimeField(default=clock.now)
    last_seen_at = models.DateTimeField(null=True)
    last_language = models.CharField(max_length=5, default="", db_default="", blank=True)

    class Meta:
        db_table = "members_member"
        constraints = [models.UniqueConstraint(fields=["organization", "user"], name="member_once")]


class MailKind(models.TextChoices):
    """The kinds of mails that notify the sender of a request."""

    COMPLETED = "completed", gettext_lazy("Everyone has signed")
    ASKED = "asked", gettext_lazy("A signer writes to you")
    DECLINED = "declined", gettext_lazy("A signer declines, which ends the request")
    EXPIRING = "expiring", gettext_lazy("A request is about to expire (three days before, and one)")
    UNDELIVERED = "undelivered", gettext_lazy("A message to a signer could not be delivered")


class MutedMail(models.Model):
    """A kind of mails that a user does not want."""

    user = models.ForeignKey(User, models.CASCADE, related_name="muted_mails")
    kind = models.CharField(max_length=12, choices=MailKind)

    class Meta:
        db_table = "members_mutedmail"
        constraints = [models.UniqueConstraint(fields=["user", "kind"], name="muted_once")]


class Invitation(models.Model):
    """An invitation of an address to join. It is open until it is accepted or withdrawn. Its link is stored as the
    SHA-256 of the link's secret and valid until ``expires_at``; a resend makes a new link."""

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
        db_table = "members_invitation"
        constraints = [
            models.UniqueConstraint(
                fields=["organization", "email"],
                condition=models.Q(accepted_at=None, withdrawn_at=None),
                name="open_invitation_once",
            )
        ]


class ActorKind(models.TextChoices):
    MEMBER = "member", gettext_lazy("Member")
    OPERATOR = "operator", gettext_lazy("Operator")
    SERVICE = "service", gettext_lazy("Service")
    SIGNER = "signer", gettext_lazy("Signer")
    API = "api", gettext_lazy("Application")


class Operator(models.Model):
    """An account that sees ``/operator``, the page of the people who run the service."""

    user = models.OneToOneField(User, models.CASCADE, primary_key=True, related_name="+")
    added_at = models.DateTimeField(default=clock.now)


class Activity(models.Model):
    """An entry of the activity log: who changed what, when, from where. Entries are in the order of their ``id``. A
    trigger refuses UPDATE, DELETE and TRUNCATE. ``organization``: null for entries of the installation, which no
    organization sees: commands of operators, and what they look at. ``actor`` is the e-mail address of a member, the
    name of an operator, else empty; ``actor_id`` the id of their account, or of an application. ``before`` and
    ``after`` hold what changed, without secrets."""

    organization = models.ForeignKey(Organization, models.PROTECT, null=True, related_name="+")
    actor_kind = models.CharField(max_length=10, choices=ActorKind)
    actor_id = models.BigIntegerField(null=True)
    actor = models.CharField(max_length=320, blank=True)
    ip = models.CharField(max_length=45, blank=True)
    action = models.CharField(max_length=50)
    subject = models.CharField(max_length=200, blank=True)
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        db_table = "activity_activity"
        indexes = [
            models.Index(fields=["organization", "id"], name="activity_in_order"),
            models.Index(fields=["organization", "created_at", "id"], name="activity_by_time"),
            models.Index(fields=["organization", "actor", "id"], name="activity_by_actor"),
            models.Index(fields=["organization", "action", "id"], name="activity_by_action"),
            models.Index(fields=["id"], condition=models.Q(actor_kind=ActorKind.OPERATOR), name="activity_operators"),
        ]
        ordering: ClassVar = ["id"]
