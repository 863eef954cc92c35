"""Drafts of signature requests: documents, signers, stamps, options."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from django.db import models
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from paraph.documents.models import Document
from paraph.kernel import clock
from paraph.signature_requests.localized import full_name
from paraph.signature_requests.models import LONGEST_MESSAGE, LONGEST_SUBJECT, Channel, Mode, Role, SignatureRequest
from paraph.tenants.models import Application, Environment, Organization, User

Json = dict[str, Any]


class Step(models.TextChoices):
    DOCUMENTS = "documents", gettext_lazy("Documents")
    SIGNERS = "signers", gettext_lazy("Signers")
    PLACEMENTS = "places", gettext_lazy("Places")
    REVIEW = "review", gettext_lazy("Review")


def blank() -> Json:
    """Return the content of a new draft."""
    options = {"mode": Mode.PARALLEL.value, "validity_days": 30, "notify_signers_on_completion": True}
    return {**options, "signers": [], "documents": []}


class RequestContent(models.Model):
    """What is to be sent. ``content``: the JSON of a creation (:mod:`paraph.drafts.content`), and beside it what
    creations by API do not say: ``subject`` and ``message`` stand in invitations in the sender's words, ``locale`` is
    the language of mails and of the signing page."""

    content = models.JSONField(default=blank)
    locale = models.CharField(max_length=5, default="en")
    subject = models.CharField(max_length=LONGEST_SUBJECT, blank=True)
    message = models.TextField(max_length=LONGEST_MESSAGE, blank=True)

    class Meta:
        abstract = True


@dataclass(frozen=True)
class DraftSigner:
    """A signer of a draft as the content has them, with "" for what is not known; ``position`` counts from 0."""

    position: int
    ref: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    phone: str = ""
    otp_channel: str = Channel.EMAIL
    role: str = Role.SIGNER
    language: str = ""

    @classmethod
    def of(cls, position: int, signer: Json) -> "DraftSigner":
        known = {field.name for field in fields(cls)}
        return cls(position, **{name: each for name, each in signer.items() if name in known})

    @property
    def label(self) -> str:
        """What forms call the signer: with the number, because two may have one name."""
        return f"{self.position + 1}. {self.first_name} {self.last_name}"[:200]

    def name(self, locale: str) -> str:
        """Return the name in the order of the signer's language, else of ``locale``; where no name is known yet, return
        which signer it is."""
        name = full_name(self.first_name, self.last_name, self.language or locale).strip()
        return name or _("Signer %(number)d") % {"number": self.position + 1}


@dataclass(eq=False)
class Placed:
    """A stamp or a field on a document: a rectangle in points of the page as a reader sees it, origin at the bottom
    left. ``field``: what is asked, as the payload has it, without the placement; None for a stamp."""

    document: Document
    signer: DraftSigner
    page_number: int
    x: float
    y: float
    width: float
    height: float
    field: Json | None = None

    def rectangle(self) -> Json:
        """Return the rectangle as the payload has it."""
        return {name: getattr(self, name) for name in ("page_number", "x", "y", "width", "height")}


class Draft(RequestContent):
    """A request in the making, which every member of the organization sees. ``step``: the farthest that was opened.

    A sent draft has a ``request``; its documents and its content are gone, as the request has them. A draft that an
    ``application`` prepared is kept when it is discarded, without these, so that the application can read what became
    of it. A draft ``of_template`` is never sent: places of a template are changed in it, and its signers are roles.
    """

    organization = models.ForeignKey(Organization, models.CASCADE, related_name="+")
    environment = models.CharField(max_length=10, choices=Environment, default=Environment.PRODUCTION)
    author = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    application = models.ForeignKey(Application, models.PROTECT, null=True, related_name="+")
    title = models.CharField(max_length=200, blank=True)
    step = models.CharField(max_length=10, choices=Step, default=Step.DOCUMENTS)
    tags_placed = models.BooleanField(default=False)
    of_template = models.BooleanField(default=False)
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

    @property
    def signers(self) -> list[DraftSigner]:
        """The signers, in the signing order."""
        return [DraftSigner.of(position, each) for position, each in enumerate(self.content.get("signers", ()))]

    @property
    def signing(self) -> list[DraftSigner]:
        """Those signers who do not approve."""
        return [signer for signer in self.signers if signer.role == Role.SIGNER]

    def files(self) -> list[Document]:
        """Return the documents in their order."""
        return [row.document for row in self.documents.select_related("document")]

    def places(self) -> list[Placed]:
        """Return what stands on the documents, one by one: on each the stamps, page by page, and then the fields."""
        signers = {signer.ref: signer for signer in self.signers}
        assigned = {each["id"]: each["signers"] for each in self.content.get("documents", ())}
        found = []
        for document in self.files():
            stamps, fields = [], []
            for each in assigned.get(document.pk, ()):
                signer = signers[each["signer_ref"]]
                stamps += [Placed(document, signer, **stamp["value"]) for stamp in each["stamps"]]
                for field in each["fields"]:
                    asked = {name: part for name, part in field.items() if name != "placement"}
                    fields.append(Placed(document, signer, **field["placement"]["value"], field=asked))
            found += [*sorted(stamps, key=lambda stamp: stamp.page_number), *fields]
        return found

    def place(self, places: Iterable[Placed]) -> None:
        """Make these the draft's stamps and fields, and save them."""
        found: dict[int, dict[str, Json]] = {}
        for each in places:
            place = {"type": "coordinates", "value": each.rectangle()}
            nothing: Json = {"signer_ref": each.signer.ref, "stamps": [], "fields": []}
            own = found.setdefault(each.document.pk, {}).setdefault(each.signer.ref, nothing)
            if each.field is None:
                own["stamps"].append(place)
            else:
                own["fields"].append({**each.field, "placement": place})
        for document in self.content["documents"]:
            document["signers"] = list(found.get(document["id"], {}).values())
        self.save(update_fields=["content"])


class DraftDocument(models.Model):
    """A document of a draft, whose file stays as long as the draft does; ``position`` counts from 0."""

    draft = models.ForeignKey(Draft, models.CASCADE, related_name="documents")
    document = models.ForeignKey(Document, models.CASCADE, related_name="+")
    position = models.SmallIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["draft", "document"], name="document_once_per_draft")]
        ordering: ClassVar = ["position"]


class DocumentTags(models.Model):
    """The tags that stand in a document: ``[[tag, page_number, x, y, width, height], …]``, in reading order; and in the
    same form the lines that wait for a signature, each with its label; ``None`` until somebody has asked for them."""

    document = models.OneToOneField(Document, models.CASCADE, primary_key=True, related_name="tags")
    found = models.JSONField()
    lines = models.JSONField(null=True)
