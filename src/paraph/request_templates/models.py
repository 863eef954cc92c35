"""Templates, and bulk sends of them."""

from typing import ClassVar, NamedTuple

from django.db import models

from paraph.documents.models import Document
from paraph.drafts.models import Draft, Json, RequestContent
from paraph.kernel import clock
from paraph.signature_requests.input import PERSON
from paraph.signature_requests.models import Role as Kind
from paraph.signature_requests.models import SignatureRequest
from paraph.tenants.models import Environment, Organization, User

LONGEST_ROLE = 100


class Role(NamedTuple):
    """A role in which somebody signs, such as "Tenant"; ``position`` counts from 0 and is the signing order.
    ``otp_channel`` and ``language`` are empty where none was named; ``role``: whether the person signs or approves.
    ``person``: who always signs in the role, as the payload has them; empty where the sender names somebody."""

    position: int
    name: str
    otp_channel: str
    role: str
    person: Json
    language: str = ""

    @property
    def always(self) -> str:
        """The name of the person who always signs in the role; "" where there is none."""
        return f"{self.person['first_name']} {self.person['last_name']}" if self.person else ""


class Template(RequestContent):
    """A request without people, except those who always sign in a role: documents, roles, places and options. Rows of a
    bulk send that were checked before ``changed_at`` are not sent. A role's ref is its position. ``locale`` is empty
    where none was chosen. ``places``: the draft in which the template's places are being changed, if any."""

    organization = models.ForeignKey(Organization, models.CASCADE, related_name="+")
    environment = models.CharField(max_length=10, choices=Environment, default=Environment.PRODUCTION)
    author = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    name = models.CharField(max_length=200)
    places = models.OneToOneField(Draft, models.SET_NULL, null=True, related_name="template")
    created_at = models.DateTimeField(default=clock.now)
    changed_at = models.DateTimeField(default=clock.now)

    class Meta:
        indexes = [models.Index(fields=["organization", "environment", "name", "id"], name="template_by_name")]

    @property
    def roles(self) -> list[Role]:
        """The roles, in the signing order."""
        return [
            Role(
                position,
                each["name"],
                each.get("otp_channel", ""),
                each.get("role", Kind.SIGNER),
                person_of(each),
                each.get("language", ""),
            )
            for position, each in enumerate(self.content["signers"])
        ]

    def fields_of(self, role: Role) -> list[Json]:
        """Return what the role fills in, document by document."""
        return [
            field
            for document in self.content["documents"]
            for each in document["signers"]
            if each["signer_ref"] == str(role.position)
            for field in each.get("fields", ())
        ]


def person_of(signer: Json) -> Json:
    """Return the person who always signs in a role, as the payload has them; empty where there is none."""
    known = {name: signer[name] for name in PERSON if signer.get(name)}
    return known if {"first_name", "last_name", "email"} <= known.keys() else {}


class TemplateDocument(models.Model):
    """A document of a template, whose file stays as long as the template does; ``position`` counts from 0."""

    template = models.ForeignKey(Template, models.CASCADE, related_name="documents")
    document = models.ForeignKey(Document, models.PROTECT, related_name="+")
    position = models.SmallIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["template", "document"], name="document_once_per_template")]
        ordering: ClassVar = ["position"]


class BulkStatus(models.TextChoices):
    """``CHECKED``: the rows are stored, and nothing is sent until a member starts the bulk send."""

    CHECKED = "checked"
    SENDING = "sending"
    DONE = "done"
    CANCELLED = "cancelled"


class BulkSend(models.Model):
    """The rows of a CSV, each of which becomes a request from the template.

    ``columns``: the header of the file. ``author`` sends; ``ip`` and ``user_agent`` are those of the call that began
    the sending, for the journals. ``language``: that of the sentences on rows.
    """

    organization = models.ForeignKey(Organization, models.CASCADE, related_name="+")
    environment = models.CharField(max_length=10, choices=Environment, default=Environment.PRODUCTION)
    template = models.ForeignKey(Template, models.SET_NULL, null=True, related_name="bulk_sends")
    author = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    file_name = models.CharField(max_length=255)
    columns = models.JSONField()
    language = models.CharField(max_length=5)
    status = models.CharField(max_length=10, choices=BulkStatus, default=BulkStatus.CHECKED)
    ip = models.CharField(max_length=45, blank=True)
    user_agent = models.TextField(blank=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        indexes = [models.Index(fields=["created_at"], name="bulk_send_by_time")]


class RowState(models.TextChoices):
    """``WRONG``: cannot be sent as it stands in the file. ``REFUSED``: was right, and could not be sent when its turn
    came."""

    READY = "ready"
    WRONG = "wrong"
    SENT = "sent"
    REFUSED = "refused"


class BulkRow(models.Model):
    """A row of the file; ``number`` is its line in a spreadsheet, where the header is 1.

    ``cells`` as in the file, ``signers`` as the payload has them, with the values of their fields by name. Both are
    empty once the row is sent: names and addresses live on in the ``request`` alone.
    """

    bulk_send = models.ForeignKey(BulkSend, models.CASCADE, related_name="rows")
    number = models.IntegerField()
    cells = models.JSONField(default=list)
    signers = models.JSONField(default=list)
    state = models.CharField(max_length=10, choices=RowState, default=RowState.READY)
    problems = models.JSONField(default=list)
    request = models.OneToOneField(SignatureRequest, models.CASCADE, null=True, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["bulk_send", "number"], name="row_once_per_bulk_send")]
        indexes = [models.Index("bulk_send", "state", "number", condition=~models.Q(state="sent"), name="unsent_row")]
        ordering: ClassVar = ["number"]
