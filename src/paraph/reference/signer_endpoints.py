"""The endpoints of a signing page, in the form of an OpenAPI document's paths: for the page as it is, and for those
who build one of their own. A test compares them with the URL map."""

from typing import Any

from paraph.api.v1.operation import DocumentPart
from paraph.reference.signer_shapes import (
    ASKED,
    CODE_CHANNEL,
    CODE_SENT,
    DECLINE,
    DECLINED,
    ENTERED,
    ENTRIES,
    FIELDS,
    FORM,
    MARKED,
    PAGE_TEXT,
    PROGRESS,
    SIGNATURE,
    SIGNED,
    STAMP,
)

_SIGN = "/sign/{token}"
_DOCUMENT = f"{_SIGN}/documents/{{document_id}}"
_PAGE = f"{_DOCUMENT}/pages/{{number}}"
_KEPT = "Browsers may keep it for 15 minutes."


def signer_paths() -> DocumentPart:
    """Paths, each with its operations by method."""
    return {
        _SIGN: {"get": _PAGE_ITSELF, "post": _FORM},
        f"{_SIGN}/otp": {"post": _SEND_CODE},
        f"{_SIGN}/fields": {"get": _FIELDS, "post": _ENTER},
        f"{_SIGN}/signature": {"post": _SIGNATURE},
        f"{_SIGN}/stamp": {"post": _STAMP},
        f"{_SIGN}/stamp.svg": {"get": _TYPED_STAMP},
        f"{_SIGN}/initials.svg": {"get": _INITIALS},
        f"{_SIGN}/progress": {"get": _PROGRESS},
        f"{_SIGN}/logo.png": {"get": _LOGO},
        f"{_DOCUMENT}.pdf": {"get": _UNSIGNED},
        f"{_DOCUMENT}/text": {"get": _TEXT},
        f"{_PAGE}/text": {"get": _WORDS},
        f"{_PAGE}-values.svg": {"get": _VALUES},
        f"{_PAGE}.webp": {"get": _picture("showPage", "Show a page", "as it is on the screen", "")},
        f"{_PAGE}-{{zoom}}.webp": {
            "get": _picture("enlargePage", "Enlarge a page", "enlarged", " `zoom` is 150, 200 or 400 percent.")
        },
        f"{_PAGE}-800-{{part}}.webp": {
            "get": _picture(
                "enlargePagePart",
                "Enlarge a part of a large page",
                "in one of sixteen parts",
                " Of pages larger than A2 alone. `part` is 1 to 16, in lines from the top left; together they have "
                "four times the pixels of the largest picture.",
            )
        },
        f"{_PAGE}-print.webp": {
            "get": _picture(
                "showPrintedPage",
                "Show a page as it prints",
                "as it is printed",
                " For pages that look different in print, which `preflight.prints_differently` names.",
            )
        },
        f"{_DOCUMENT}/copy.pdf": {"get": _COPY},
        f"{_SIGN}/proof.pdf": {"get": _PROOF},
        f"{_SIGN}/ask": {"get": _ASK, "post": _ASKED},
        f"{_SIGN}/decline": {"get": _DECLINE_FORM, "post": _DECLINE},
        "/sign/embed.js": {"get": _EMBED},
        "/sign/words/{locale}.js": {"get": _SCRIPT_WORDS},
    }


def _operation(
    name: str,
    summary: str,
    description: str,
    answer: DocumentPart,
    *,
    body: DocumentPart | None = None,
    query: tuple[DocumentPart, ...] = (),
) -> DocumentPart:
    return {
        "operationId": name,
        "summary": summary,
        "description": description,
        "parameters": list(query),
        "responses": answer,
        **({"requestBody": {"content": body}} if body else {}),
    }


def _answer(description: str, media: str = "application/json", status: str = "200", **content: Any) -> DocumentPart:
    return {status: {"description": description, "content": {media: content}}}


def _query(name: str, description: str, *, required: bool = False, **schema: Any) -> DocumentPart:
    return {"name": name, "description": description, "required": required, "schema": {"type": "string", **schema}}


def _picture(name: str, summary: str, what: str, more: str) -> DocumentPart:
    description = (
        f"The page {what}, for those who may read the document.{more} {_KEPT}\n\nWhere the file itself is why there is "
        "no picture, the answer is 422, and a signature on that document is refused until the picture comes about: "
        "only what can be shown can be signed."
    )
    return _operation(name, summary, description, _answer("A picture.", "image/webp"))


_TICKET = _query("ticket", "From the header `X-Copy-Ticket` of the answer to the signature.", required=True)
_LANG = _query(
    "lang",
    "The language: one of the twenty. Else the one that the request was created in, else the browser's.",
    examples=["fr"],
)

_PAGE_ITSELF = _operation(
    "showSigningPage",
    "Open the signing page",
    "The page, in three steps: read, your signature, confirm; where the signer has fields, filling in follows the "
    "reading. It may be shown in a frame of the sites that the application names, or of any where it names "
    "none.\n\nWhere there is nothing to sign, the page says why: with 200 for who has signed, or may only read "
    "until it is their turn; with 410 once the time is over; with 429 for who is locked after too many wrong "
    "codes; with 404 for a link that is nobody's. `data-state` on `<body>` is `ready`, `not_your_turn`, "
    "`expired`, `already_signed`, `locked` or `not_found`, and `signed` on the page that signed.",
    _answer("The page.", "text/html"),
    query=(_LANG,),
)
_FORM = _operation(
    "submitSigningForm",
    "Sign without scripts",
    "The same journey as plain forms, for browsers without scripts. What could not be done is answered with the form "
    "as it was and what is wrong with it. A form that another site sends is refused. The link to a copy is mailed at "
    "most three times in a day.",
    _answer("Back to the same address.", "text/html", "303"),
    body={"application/x-www-form-urlencoded": FORM},
)
_SEND_CODE = _operation(
    "sendCode",
    "Send a one-time code",
    "Sends six digits that are valid for 10 minutes. Only the newest code counts, and at most five are sent in 10 "
    "minutes. None is sent while it would not be taken, because too many wrong ones were entered; `Retry-After` says "
    "until when.",
    _answer("The code was sent.", **CODE_SENT),
    body={"application/json": CODE_CHANNEL},
)
_SIGNATURE = _operation(
    "sign",
    "Sign",
    "Signs all documents of the signer with the newest code. Each code has five attempts in its 10 minutes; after that "
    "it is void, and a new one gives five more. After twenty wrong ones within 24 hours the signer is locked for 24 "
    "hours, in which no code is sent either.\n\nWhere the signer has fields, the error of a 422 may have `fields`: "
    "what is wrong or missing, each with `document_id`, `name` and `message`. No attempt is counted then.\n\n"
    "The header `X-Copy-Ticket` of the answer "
    "opens the sealed files for 15 minutes.",
    _answer("The signature is recorded. Sealing follows the last one.", **SIGNED),
    body={"application/json": SIGNATURE},
)
_FIELDS = _operation(
    "listFields",
    "List the fields to fill in",
    "For signing pages of your own: the signer's fields by document and page, in the order of reading, each with what "
    "was entered so far and what is wrong with it. Empty for a signer without fields. In `sequential` mode it may be "
    "read before the signer's turn.",
    _answer("The fields.", **FIELDS),
    query=(_LANG,),
)
_ENTER = _operation(
    "enterFields",
    "Keep what was entered",
    "Keeps values while the signer may sign, right or wrong, encrypted, so that nothing is lost by a reload or on "
    "another device; with the end of the request they are deleted, unless they were signed. What is wrong with a value "
    "is told in `message`, and refused at the signature. Unknown names, values that the sender or the service sets, "
    "and texts of more than 4,000 characters are refused with their path, and then nothing is kept. After 240 in a "
    "minute: 429 with `Retry-After`.",
    _answer("Each value as it will look.", **ENTERED),
    body={"application/json": ENTRIES},
)
_VALUES = _operation(
    "drawValues",
    "Show the values on a page",
    "The values as they will stand on the page, as a picture of its size: the signer's own, what the sender has set, "
    f"and in `sequential` mode what those before have signed. 404 where there are none. {_KEPT} The address that "
    "`page` of the answer to what was entered names changes with the values.",
    _answer("The values.", "image/svg+xml"),
)
_STAMP = _operation(
    "drawStamp",
    "Preview a stamp",
    "Draws the stamp as it will stand on the page. After 60 in a minute: 429 with `Retry-After`.",
    _answer("The stamp.", **STAMP),
    body={"application/json": MARKED},
)
_TYPED_STAMP = _operation(
    "drawTypedStamp",
    "Preview a typed stamp",
    f"The same for a typed name, as a picture to load. {_KEPT}",
    _answer("The stamp.", "image/svg+xml"),
    query=(_query("hand", "In which of the four hands.", enum=["1", "2", "3", "4"], default="1"), _LANG),
)
_INITIALS = _operation(
    "drawTypedInitials",
    "Preview typed initials",
    f"As they stand on each page, where the request wants initials; else 404. {_KEPT}",
    _answer("The initials.", "image/svg+xml"),
)
_PROGRESS = _operation(
    "readProgress",
    "Follow the progress",
    "How far the request is, for those who have signed; else 404. A count and never a name: who else signs is not the "
    "signer's to know.",
    _answer("The progress.", **PROGRESS),
)
_LOGO = _operation(
    "showLogo",
    "Show the logo",
    "The logo of the request's branding profile, at most 480 by 144 pixels, whatever the state of the request; 404 "
    "without one. Browsers may keep it for a day.",
    _answer("A picture.", "image/png"),
)
_UNSIGNED = _operation(
    "downloadUnsigned",
    "Download a document to read",
    "The document before it is signed, as it is shown, for those who may read it: from the invitation until the "
    "signature, also before one's turn. In `sequential` mode with what those before have filled in, under their names.",
    _answer("The PDF.", "application/pdf"),
)
_TEXT = _operation(
    "readText",
    "Read a document as text",
    "Page after page, a hundred at once, for those who read it so.",
    _answer("A page.", "text/html"),
    query=(_query("from", "The first page of a part of a long document.", default="1"), _LANG),
)
_WORDS = _operation(
    "readPageText",
    "Read the words of a page",
    f"Lines of text with their places, in points from the top left. {_KEPT}",
    _answer("The words.", **PAGE_TEXT),
)
_COPY = _operation(
    "downloadCopy",
    "Download the sealed document",
    "The signer's own copy, once `progress` is `ready`.",
    _answer("The PDF.", "application/pdf"),
    query=(_TICKET,),
)
_PROOF = _operation(
    "downloadProof",
    "Download the proof",
    "The sealed proof file, once `progress` is `ready`.",
    _answer("The PDF.", "application/pdf"),
    query=(_TICKET,),
)
_ASK = _operation(
    "showAskForm",
    "Open the form to write to the sender",
    "For signers in any state, where the organization has a contact address "
    "(`paraph organization update ID --contact-email ADDRESS`); else 404.",
    _answer("The form.", "text/html"),
    query=(_LANG,),
)
_ASKED = _operation(
    "ask",
    "Write to the sender",
    "Mails the message to the contact address, with the signer as `Reply-To`, and keeps it: at most three in 24 hours, "
    "then 429 with `Retry-After`. The request, its audit log and its webhooks know nothing of it.",
    _answer("Back to the form, which says that it was sent.", "text/html", "303"),
    body={"application/x-www-form-urlencoded": ASKED},
)
_DECLINE_FORM = _operation(
    "showDeclineForm",
    "Open the form to decline",
    "For signers whose turn it is, where the request has `decline_allowed`; others are led back to the signing page, "
    "and where it has not, the answer is 404.",
    _answer("The form.", "text/html"),
    query=(_LANG,),
)
_DECLINE = _operation(
    "decline",
    "Decline",
    "Ends the request for everybody, without a code: it is `expired`, with `ended_early`, `ended_reason` and "
    "`declined_by`, and the webhook `request.expired` says `declined`, `signer_id` and `reason`. Where the request "
    "does not have `decline_allowed`, the answer is 403 `decline_not_allowed`; else it is refused as a signature is. "
    "The form of the page sends the same field as `application/x-www-form-urlencoded` and is led back to the page.",
    _answer("It has ended.", **DECLINED),
    body={"application/json": DECLINE},
)
_EMBED = _operation(
    "loadEmbedScript",
    "Show the page in a frame",
    "A script of 2 KB for your own site: `Paraph.embed(element, signingUrl, {onEvent})` makes the frame, keeps it as "
    "high as its content, and calls `onEvent` with what happens in it, such as `paraph:signed`. What counts is the "
    "webhook: anybody can claim anything in their own browser.",
    _answer("The script.", "text/javascript"),
)

_SCRIPT_WORDS = _operation(
    "loadScriptWords",
    "Read what the page's scripts say",
    "The words of the page's scripts in one of the twenty languages, the same for everybody. Pages name it with its "
    "version, and browsers keep it for a year.",
    _answer("The words.", "text/javascript"),
)
