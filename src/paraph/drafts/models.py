"""Drafts of signature requests: documents, signers, stamps, options."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from django.db import models
from django.utils.translation import gettext_lazy

from paraph.documents.models import Document
from paraph.kernel import clock
from paraph.signature_requests.models import LONGEST_MESSAGE, LONGEST_SUBJECT, Channel, Mode, Role, SignatureRequest
from paraph.tenants.models import Application, BrandingProfile, Environment, Organization, User

DEFAULT_VALIDITY_DAYS = 30
OPTIONS = (
    "mode",
    "validity_days",
    "initials_required",
    "notify_signers_on_completion",
    "branding_profile_id",
    "locale",
)
WRITTEN = ("subject", "message")


class Step(models.TextChoices):
    DOCUMENTS = "documents", gettext_lazy("Documents")
    SIGNERS = "signers", gettext_lazy("Signers")
    PLACEMENTS = "places", gettext_lazy("Places")
    REVIEW = "review", gettext_lazy("Review")


class RequestOptions(models.Model):
    """What a sender chooses for a request as a whole. ``locale``: the language that signers are written to, and that
    the signing page has. ``subject`` and ``message``: what their invitations say in the sender's words.
    ``more_options``: those of a creation by API that have no column, as its payload has them."""

    mode = models.CharField(max_length=10, choices=Mode, default=Mode.PARALLEL)
    validity_days = models.SmallIntegerField(default=DEFAULT_VALIDITY_DAYS)
    initials_required = models.BooleanField(default=False)
    notify_signers_on_completion = models.BooleanField(default=True)
    branding_profile = models.ForeignKey(
        BrandingProfile, models.SET_NULL, null=True, blank=True, related_name="%(class)ss"
    )
    locale = models.CharField(max_length=5, default="en")
    subject = models.CharField(max_length=LONGEST_SUBJECT, blank=True)
    message = models.TextField(max_length=LONGEST_MESSAGE, blank=True)
    more_options = models.JSONField(default=dict)

    class Meta:
        abstract = True

    def options(self) -> dict[str, Any]:
        """Return the values by the names of their columns, for another row of the same kind."""
        return {name: getattr(self, name) for name in (*OPTIONS, *WRITTEN, "more_options")}


class Draft(RequestOptions):
    """A request in the making, which every member of the organization sees. ``step``: the farthest that was opened.

    A sent draft is known by its ``request``; its documents, signers and stamps are gone, as the request has them. One
    that an ``application`` prepared is kept when it is discarded, without these, so that the application can read what
    became of it.

    ``placed``: ``documents`` as a creation has them, with stamps and fields at coordinates; a ``signer_ref`` is
    the primary key of a signer.
    """

    organization = models.ForeignKey(Organization, models.CASCADE, related_name="+")
    environment = models.CharField(max_length=10, choices=Environment, default=Environment.PRODUCTION)
    author = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    application = models.ForeignKey(Application, models.PROTECT, null=True, related_name="+")
    title = models.CharField(max_length=200, blank=True)
    step = models.CharField(max_length=10, choices=Step, default=Step.DOCUMENTS)
    tags_placed = models.BooleanField(default=False)
    placed = models.JSONField(default=list)
    request = models.OneToOneField(SignatureRequest, models.CASCADE, null=True, related_name="+")
    discarded_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=clock.now)
    updated_at = models.DateTimeField(default=clock.now)

    class Meta:
        indexes = [
            models.Index(fields=["organization", "environment", "updated_at", "id"], name="draft_by_time"),
            models.Index(fields=["updated_at"], name="draft_unused"),
        ]

    @property
    def name(self) -> str:
        """The title, else the name of the first document; "" where there is neither."""
        if self.title:
            return self.title
        first = next(iter(self.documents.all()), None)
        return first.document.name if first else ""

    def places(self) -> "Places":
        """Return the stamps, page by page, and the fields of those documents and signers that there are."""
        found = Places([], [])
        signers = {str(signer.pk): signer for signer in self.signers.all()}
        placed = {each["id"]: each["signers"] for each in self.placed}
        for row in self.documents.select_related("document"):
            stamps = []
            for each in placed.get(row.document_id, ()):
                if signer := signers.get(each["signer_ref"]):
                    whose: dict[str, Any] = {"document": row, "signer": signer}
                    stamps += [DraftStamp(**whose, **stamp["value"]) for stamp in each["stamps"]]
                    for field in each["fields"]:
                        content = {name: part for name, part in field.items() if name != "placement"}
                        found.fields.append(DraftField(**whose, **field["placement"]["value"], content=content))
            found.stamps.extend(sorted(stamps, key=lambda stamp: stamp.page_number))
        return found

    def place(self, stamps: "Iterable[DraftStamp]", fields: "Iterable[DraftField]") -> None:
        """Make these the draft's stamps and fields, and save them."""
        placed: dict[int, dict[str, dict[str, Any]]] = {}

        def of(each: DraftStamp) -> tuple[dict[str, Any], dict[str, Any]]:
            ref = str(each.signer.pk)
            there = placed.setdefault(each.document.document_id, {})
            place = {"type": "coordinates", "value": each.rectangle()}
            return there.setdefault(ref, {"signer_ref": ref, "stamps": [], "fields": []}), place

        for stamp in stamps:
            assignment, place = of(stamp)
            assignment["stamps"].append(place)
        for field in fields:
            assignment, place = of(field)
            assignment["fields"].append({**field.content, "placement": place})
        self.placed = [{"id": pk, "signers": list(by_ref.values())} for pk, by_ref in placed.items()]
        self.save(update_fields=["placed"])


class DraftDocument(models.Model):
    """A document of a draft; ``position`` counts from 0."""

    draft = models.ForeignKey(Draft, models.CASCADE, related_name="documents")
    document = models.ForeignKey(Document, models.CASCADE, related_name="+")
    position = models.SmallIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["draft", "document"], name="document_once_per_draft")]
        ordering: ClassVar = ["position"]


class DraftSigner(models.Model):
    """A signer of a draft; ``position`` counts from 0 and is the signing order. What is entered is checked by the code
    that checks the API's payloads, when the draft is reviewed and sent."""

    draft = models.ForeignKey(Draft, models.CASCADE, related_name="signers")
    position = models.SmallIntegerField()
    first_name = models.CharField(max_length=200)
    last_name = models.CharField(max_length=200)
    email = models.CharField(max_length=320)
    phone = models.CharField(max_length=40, blank=True)
    otp_channel = models.CharField(max_length=5, choices=Channel, default=Channel.EMAIL)
    role = models.CharField(max_length=10, choices=Role, default=Role.SIGNER, db_default=Role.SIGNER)

    class Meta:
        ordering: ClassVar = ["position"]

    @property
    def ref(self) -> str:
        """What problems of the payload call the signer; with the number, because two may have one name."""
        return f"{self.position + 1}. {self.first_name} {self.last_name}"[:200]


@dataclass(kw_only=True, eq=False)
class DraftStamp:
    """Where a signer signs: a rectangle in points of the page as a reader sees it, origin at the bottom left."""

    document: DraftDocument
    signer: DraftSigner
    page_number: int
    x: float
    y: float
    width: float
    height: float

    def rectangle(self) -> dict[str, Any]:
        """Return the rectangle as the payload has it."""
        return {name: getattr(self, name) for name in ("page_number", "x", "y", "width", "height")}


@dataclass(kw_only=True, eq=False)
class DraftField(DraftStamp):
    """What a signer fills in, and where. ``content``: as the payload has it, without the placement."""

    content: dict[str, Any]


class Places(NamedTuple):
    stamps: list[DraftStamp]
    fields: list[DraftField]


class DocumentTags(models.Model):
    """The tags that stand in a document: ``[[tag, page_number, x, y, width, height], …]``, in reading order; and in the
    same form the lines that wait for a signature, each with its label; ``None`` until somebody has asked for them."""

    document = models.OneToOneField(Document, models.CASCADE, primary_key=True, related_name="tags")
    found = models.JSONField()
    lines = models.JSONField(null=True)
