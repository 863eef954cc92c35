"""A document as the API shows it (rule 2.1), and its preflight report."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field

from paraph.api.v1.shapes import Digest, Id, Output, Pagination, Timestamp, Url
from paraph.documents import models
from paraph.kernel.clock import iso

MOST_PAGES = 100_000  # the limit of pages is a setting
MOST_PLACES = 100_000

Number = Annotated[int, Field(ge=0)]
PageNumber = Annotated[int, Field(ge=1)]
Points = Annotated[float, Field(ge=0)]
Change = Literal[
    "scripts",
    "actions",
    "layers",
    "media",
    "xfa_form",
    "hover_annotations",
    "screen_only_annotations",
    "print_only_annotations",
    "print_only_contents",
]


class PageSize(Output):
    """Pages of one size."""

    width: Points = Field(description="Points, as a reader sees the page: cropped, turned, scaled.")
    height: Points = Field(description="Points, likewise.")
    pages: int = Field(ge=1, description="How many pages have it.")


class Permissions(Output):
    """What the owner's password lets readers do. Seals keep the encryption and are not hindered by it."""

    accessibility: bool = Field(description="Read the text aloud.")
    extract: bool = Field(description="Copy text and pictures.")
    modify_annotation: bool = Field(description="Add comments.")
    modify_assembly: bool = Field(description="Insert, turn and delete pages.")
    modify_form: bool = Field(description="Fill in forms.")
    modify_other: bool = Field(description="Change anything else.")
    print_lowres: bool = Field(description="Print coarsely.")
    print_highres: bool = Field(description="Print as it is.")


class Encryption(Output):
    """How the file is encrypted. It opens without a password, or it would not have been taken."""

    method: Literal["none", "unknown", "rc4", "aes", "aesv3"] = Field(description="Of the contents.")
    bits: int = Field(ge=40, description="Length of the key.")
    permissions: Permissions = Field(description="What readers are asked to allow.")


class EarlierSignatures(Output):
    """Signatures that the file brought along. They stay valid."""

    count: Number = Field(description="Signed fields.")
    certification: int | None = Field(
        ge=1,
        description="What the author's certification allows: 2 filling in forms, 3 comments too. Null without one.",
    )
    usage_rights: bool = Field(description="Whether it has usage rights of Adobe Reader, which a change ends.")


class Forms(Output):
    """Interactive forms."""

    fields: Number = Field(description="Form fields, signatures among them.")
    xfa: bool = Field(description="Whether it is a static XFA form as well. Dynamic ones are refused.")


class DisputedPlace(Output):
    """A place on a page that readers draw differently."""

    page_number: PageNumber = Field(description="The page.")
    x: Points = Field(description="Left edge, in points from the left of the page as a reader sees it.")
    y: Points = Field(description="Lower edge, in points from the bottom.")
    width: Points = Field(description="Points.")
    height: Points = Field(description="Points.")
    what: Literal["link_border", "annotation", "form_field", "lost", "contents"] = Field(
        description="What readers draw differently: the border of a link that touches something, an annotation, a form "
        "field, or (`lost`) contents that some leave out or draw otherwise, because of unusual names of letters in a "
        "font that is not embedded, a transfer function, or a picture with a channel of opacity. `contents`: drawn "
        "otherwise by a word or more by a second renderer, or not by it at all."
    )


class Preflight(Output):
    """What the file holds that you may want to know of before anybody signs it. Nothing here kept it from being taken.

    Scripts and actions are left as they are, and signers never run them: they see pictures of the pages."""

    page_count: int = Field(ge=1, description="Pages.")
    sizes: list[PageSize] = Field(max_length=MOST_PAGES, description="The sizes of pages, the most frequent first.")
    rotated_pages: Number = Field(description="Pages that are shown turned.")
    version: str = Field(
        min_length=1, max_length=20, description="Version of PDF that the file names.", examples=["1.7"]
    )
    encryption: Encryption | None = Field(description="Null for a file that is not encrypted.")
    signatures: EarlierSignatures = Field(description="Signatures that it brought along.")
    forms: Forms = Field(description="Its forms.")
    scripts: Number = Field(description="JavaScript in actions, wherever it hangs.")
    launch_actions: Number = Field(description="Actions that would start a program or open a file.")
    submit_actions: Number = Field(description="Actions that would send or fetch form data.")
    attachments: Number = Field(description="Files that are attached to it.")
    prints_differently: list[PageNumber] | None = Field(
        max_length=MOST_PAGES,
        description="Numbers of the pages that look different in print than on the screen: by layers, or by "
        "annotations and form fields that are for one of the two alone. Signers are shown both.",
    )
    print_unknown: Number | None = Field(
        description="Pages that may look different in print and were not compared, because that would have taken too "
        "long. 0 for nearly all files."
    )
    can_change: list[Change] | None = Field(
        max_length=9,
        description="What can make a viewer show something else than it shows now, or something else in print. Signers "
        "are told. `scripts`: JavaScript. `actions`: what is clicked, or opening a page or the file, can start "
        "something, hide, reset, send or fetch. `layers`: optional content, which a reader may switch. `media`: sound, "
        "film or a 3D model. `xfa_form`: some viewers draw the XFA form instead of the pages. `hover_annotations`: "
        "come or go under the mouse. `screen_only_annotations`, `print_only_annotations`: comments or form fields that "
        "are not printed, or only printed. `print_only_contents`: pictures or programs for printers alone.",
    )
    drawn_differently: list[DisputedPlace] | None = Field(
        max_length=MOST_PLACES,
        description="Places that other readers may draw otherwise than signers see them. Signers find them outlined. A "
        "file in which such an annotation or form field lies over text is refused.",
    )
    text_drawn_differently: list[PageNumber] | None = Field(
        default=None,
        max_length=MOST_PAGES,
        description="Pages with text that a second renderer draws otherwise, which you accepted with "
        "`accept_drawn_differently`. Only in the report of a file with pages of which no rule says that all readers "
        "draw them alike.",
    )
    altered_after_seal: list[Annotated[str, Field(max_length=200)]] | None = Field(
        max_length=10,
        description="Names of the trusted seals in it after which it was altered, also by a signature that is not "
        "trusted or cannot be read. Signers are told.",
    )
    repairs: list[Annotated[str, Field(max_length=1000)]] = Field(
        max_length=5,
        description="What the reader had to put right, in its own words. The file itself is kept as it is.",
    )
    method: Literal["incremental", "general", "normalised"] | None = Field(
        description="What had to be done before the file can be sealed: `incremental`, nothing; `general`, a table of "
        "its objects was added, since its own is wrong; `normalised`, it was rewritten. Signers see, and you get "
        "sealed, exactly the file that came of it; what you uploaded stays behind `download_url`."
    )


class Document(Output):
    """An uploaded PDF."""

    id: Id = Field(description="Identifies the document in its environment.")
    content_type: Literal["pdf"] = Field(description="Always `pdf`.")
    sha256_hash: Digest = Field(description="SHA-256 of the uploaded file in hexadecimal, computed by the service.")
    file_size: int = Field(description="Bytes.", ge=1, json_schema_extra={"format": "int64"})
    status: Literal["pending", "ready"] = Field(description="`ready` once the file can be used and downloaded.")
    created_at: Timestamp = Field(description="When it was uploaded.")

    @classmethod
    def of(cls, row: models.Document, **more: Any) -> Self:
        return cls.build(
            id=row.pk,
            content_type="pdf",
            sha256_hash=bytes(row.sha256).hex(),
            file_size=row.file_size,
            status=row.status,
            created_at=iso(row.created_at),
            **more,
        )


class UploadedDocument(Document):
    """A document as its upload answers it."""

    preflight: Preflight | None = Field(
        description="What the file holds: pages, encryption, signatures, forms, scripts. Null until the file has been "
        "read."
    )


class DocumentWithDownload(UploadedDocument):
    """A document read by its id."""

    download_url: Url | None = Field(
        description="Presigned address of the uploaded file, valid for 15 minutes; null while it is `pending`, and "
        "once the file is deleted by the organization's retention."
    )


class Documents(Output):
    """A page of documents."""

    data: list[Document] = Field(max_length=100, description="The entries of the page; empty beyond the last.")
    pagination: Pagination
