"""``GET /sign/{token}``: what the signer reads, agrees to and signs. ``POST``: the form of that page, as browsers send
it without scripts."""

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils.html import format_html
from django.utils.safestring import SafeString
from pydantic import Field

from paraph.flow.messages.copies import mail_copy, mails_leave
from paraph.flow.signing.sign import enter_fields, masked, send_otp, shown_disclosure, sign
from paraph.kernel import bounded_json, clock
from paraph.kernel.errors import DomainError
from paraph.otp import guesses
from paraph.otp.codes import channels, destination, shown_code
from paraph.otp.models import OneTimeCode
from paraph.pdf.typesetting.appearances import hands_for
from paraph.pdf.typesetting.glyph_fallback import initials_of, readable_name, written_otherwise
from paraph.server.client_address import client_address, origin
from paraph.signature_requests.fields.entry import filled_fields
from paraph.signature_requests.links import ReplacedLinkError, token
from paraph.signature_requests.localized import consent_notice
from paraph.signature_requests.marks import Body, typed
from paraph.signature_requests.models import FirstOpening, Signer
from paraph.signature_requests.signing import SigningEligibility, signing_eligibility
from paraph.signer import documents, language
from paraph.signer.answers import STATUSES, PageNotLoadedError, go_on, problems, say_when
from paraph.signer.described import LANG, described
from paraph.signer.endpoints import ENTRIES, MOST_COMMAS, MOST_PARTS, count, from_dashboard, in_person, posted_form
from paraph.signer.fields import fields_on, form_entries
from paraph.signer.notice import for_signer, mail_on_request, notice, redirect
from paraph.signer.pictures import require_pictures
from paraph.signer.shell import show, words_address
from paraph.signer.signature import not_sent, read

_APPROVING = ("signing", "unshown", "signed_title", "receipt_signer", "receipt_time")  # what scripts word differently
_PAUSE_SECONDS = 30  # before the page offers another code: a mail takes a while
_MARKS = ("signature", "initials")
_FINAL = ("fill", "sign")  # in these, empty fields are left empty on purpose
_CODES = {"code": "", "code-email": "email", "code-sms": "sms"}  # each with the channel that it names


@dataclass(frozen=True)
class Entries:
    """What was entered, to be shown again. ``refusal``: why it could not be taken."""

    code: str = ""
    consent: bool = False
    marks: dict[str, dict[str, Any]] = field(default_factory=dict)
    language: str = ""
    refusal: DomainError | None = None
    missing: tuple[str, ...] = ()

    @property
    def status(self) -> int:
        if self.refusal:
            return STATUSES.get(self.refusal.code, 500)
        return 422 if self.missing else 200


@for_signer
@described("GET /sign/{token}", "showSigningPage", "The page.", "text/html", query=(LANG,))
def page(request: HttpRequest, signer: Signer) -> HttpResponse:
    """Open the signing page.

    The page, in three steps: read, your signature, confirm; where the signer has fields, filling in follows the
    reading. It may be shown in a frame of the sites that the application names, or of any where it names none.

    Where there is nothing to sign, the page says why: with 200 for who has signed, or may only read until it is their
    turn; with 410 once the time is over or the sender withdrew the request, and for a link that was replaced by a newer
    one; with 429 for who is locked after too many wrong codes; with 404 for a link that is nobody's. `data-state` on
    `<body>` is `ready`, `not_your_turn`, `expired`, `withdrawn`, `replaced`, `already_signed`, `locked` or `not_found`,
    and `signed` on the page that signed.
    """
    found = signing_eligibility(signer)
    if found is not SigningEligibility.OPEN and found is not SigningEligibility.NOT_YOUR_TURN:
        shown = partial(notice, request, found.value, signer)
        asks = found is SigningEligibility.SIGNED and request.method == "POST"  # for a mail with the link to their copy
        return mail_on_request(request, lambda: mail_copy(signer), shown) if asks else shown()
    if found is SigningEligibility.OPEN and (until := guesses.locked_until(signer)):
        return notice(request, "locked", signer, until=until)
    if request.method == "POST":
        answer = _answer(request, signer)
        return answer if isinstance(answer, HttpResponse) else _page(request, signer, answer, found)
    if request.method == "GET":  # a HEAD request shows no documents
        opening = FirstOpening(signer=signer, opened_at=clock.now(), ip=client_address(request))
        FirstOpening.objects.bulk_create([opening], ignore_conflicts=True)  # a later one changes nothing
    return _page(request, signer, Entries(), found)


def _page(request: HttpRequest, signer: Signer, entries: Entries, found: SigningEligibility) -> HttpResponse:
    """``entries``: the content of a form that could not be taken, or that was sent to change the language."""
    is_turn = found is SigningEligibility.OPEN
    locale = language.choose(request, signer, entries.language)
    shown = documents.contents(signer, locale)
    initials = signer.request.initials_required and not signer.is_approver
    words, esign = language.words(locale, signer), shown_disclosure(signer)
    content = {
        "state": "ready" if is_turn else "not_your_turn",
        "token": token(signer),
        "asked_language": bool(request.GET.get("lang") or entries.language),
        "documents": shown,
        **fields_on(signer, shown, locale, entries.refusal, may_fill=is_turn),
        "place": _first_place(shown),
        "words_address": words_address(locale),
        "script_words": {name: words[name] for name in _APPROVING} if signer.is_approver else None,
        "consent": consent_notice(locale, len(shown), esign, approves=signer.is_approver),
        "esign": esign,
        "expires_at": signer.request.expires_at,
        "redirect": redirect(signer),
        **in_person(request, signer),
        **from_dashboard(request, signer),
        "decline_url": _decline_url(request, signer, entries) if is_turn else "",
        "before": 0 if is_turn else signer.request.signers.filter(order__lt=signer.order, signed_at=None).count(),
        "is_mailed": not is_turn and signer.request.send_email and mails_leave(signer),
        "written": [] if signer.is_approver else _written(signer),
        "hands": [str(hand) for hand in hands_for(signer.full_name, signer.email)],
        "initials": initials_of(readable_name(signer.full_name, signer.email)) if initials else "",
        "channels": [_channel(signer, channel.value, locale) for channel in channels(signer)],
        "sent": _sent_code(signer, locale),
        "entries": entries,
        "problems": problems(entries.refusal, entries.missing, words),
        "offers_reload": isinstance(entries.refusal, PageNotLoadedError),
    }
    response = show(request, "signer/page.html", content, signer=signer, locale=locale, status=entries.status)
    return say_when(response, entries.refusal) if entries.refusal else response


def _decline_url(request: HttpRequest, signer: Signer, entries: Entries) -> str:
    """Return the address of the page to decline on, which ends in ``/decline`` also where it names a language or the
    ticket of a member's device; "" where the request does not let its signers decline."""
    if not signer.request.decline_allowed:
        return ""
    asked = entries.language or request.GET.get("lang")
    named = in_person(request, signer) | ({"lang": language.choose(request, signer, asked)} if asked else {})
    return f"{request.path}/decline{f'?{urlencode(named)}#/decline' if named else ''}"


def _written(signer: Signer) -> list[SafeString]:
    """Return the signer's name and what the stamp says in its place, where no font has its letters."""
    written = written_otherwise(signer.full_name, signer.email)
    return [format_html("<bdi>{}</bdi>", name) for name in (signer.full_name, written)] if written else []


def _channel(signer: Signer, channel: str, locale: str) -> dict[str, Any]:
    unsent = not_sent(signer, channel, locale)
    return {"name": channel, "recipient": masked(destination(signer, channel)[1]), "unsent": unsent}


def _first_place(shown: list[dict[str, Any]]) -> dict[str, str] | None:
    pages = ((document["name"], page) for document in shown for page in document["pages"])
    return next(({"name": name, "page": page["number"]} for name, page in pages if page["boxes"]), None)


def _sent_code(signer: Signer, locale: str) -> dict[str, Any] | None:
    """Return the newest code, while it can be used; None where none was sent or its time is over. ``unsent``: why
    nothing sends it. ``shown``: the code itself, in the sandbox. ``wait``: seconds until the page offers another."""
    now = clock.now()
    code = OneTimeCode.objects.filter(signer=signer).first()
    if code is None or code.sent_at is None or code.used_at or code.expires_at <= now:
        return None
    return {
        "recipient": masked(code.destination),
        "unsent": not_sent(signer, code.channel, locale),
        "sent_at": code.sent_at,
        "shown": shown_code(code),
        "wait": min(max(0, _PAUSE_SECONDS - round((now - code.sent_at).total_seconds())), _PAUSE_SECONDS),
    }


class SigningForm(Body):
    do: Literal["fill", "code", "sign", "copy"] = Field(
        description="`fill` keeps what was filled in and goes on, `code` sends a code, `sign` signs; once everything "
        "is sealed, `copy` mails the signer the link to their copy."
    )
    code: str | None = Field(None, description="With `sign`: the newest code.")
    consent: str | None = Field(None, description="With `sign`: `on` for a ticked box.")
    fill: str | None = Field(
        None, description="`on` where the fields of the signer come with it, as `field-{document_id}-{name}`."
    )
    example = ("Sign", {"do": "sign", "code": "244283", "consent": "on"})


@described("POST /sign/{token}", "submitSigningForm", "Back to the same address.", "text/html", body=SigningForm)
def _answer(request: HttpRequest, signer: Signer) -> HttpResponse | Entries:
    """Sign without scripts.

    The same journey as plain forms, for browsers without scripts. What could not be done is answered with the form as
    it was and what is wrong with it. No code is sent, and nothing is signed, while a page has no picture to be seen. A
    form that another site sends is refused. The link to a copy is mailed at most three times in a day.
    """
    try:
        entered = _entered(posted_form(request))
    except DomainError as refusal:
        return Entries(refusal=refusal)
    action = request.POST.get("do", "")
    try:
        if entries := form_entries(request.POST, signer, is_final=action in _FINAL):
            count(ENTRIES, signer)
            enter_fields(signer, entries)
        if action == "fill":
            filled_fields(signer, None, language.choose(request, signer, entered.language))
            return go_on(f"{request.get_full_path()}#sign")
        if action in _CODES or action == "sign":
            require_pictures(signer)
        if action in _CODES:
            channel = _CODES[action] or request.POST.get("channel", "") or channels(signer)[0].value
            send_otp(signer, channel, origin(request), language.choose(request, signer, entered.language))
        elif action == "sign":
            if missing := _missing(entered, signer):
                return replace(entered, missing=missing)
            sign(signer, read(_body(entered, request, signer), signer), origin(request))
        else:
            return entered
    except ReplacedLinkError:  # whoever came by the old link is shown nothing more
        raise
    except DomainError as refusal:
        return replace(entered, refusal=refusal)
    return go_on(request.get_full_path())


def _entered(form: QueryDict) -> Entries:
    return Entries(
        code=form.get("code", "")[:200],
        consent=form.get("consent") == "on",
        marks={kind: _mark(form, kind) for kind in _MARKS},
        language=form.get("lang", ""),
    )


def _mark(form: Any, kind: str) -> dict[str, Any]:
    """Return a drawing where a script has put one into the form, else the name."""
    if form.get(f"{kind}-type") == "drawn":
        try:
            text = form.get(f"{kind}-strokes", "") or "[]"
            strokes = bounded_json.loads(text.encode(errors="replace"), MOST_PARTS, comma_limit=MOST_COMMAS)
        except ValueError:
            strokes = []
        return {"type": "drawn", "strokes": strokes}
    return typed(form.get(f"{kind}-hand", ""))


def _missing(entered: Entries, signer: Signer) -> tuple[str, ...]:
    drawn = [kind for kind in _MARKS if entered.marks[kind].get("strokes") == [] and not signer.is_approver]
    return (*drawn, *([] if entered.consent else ["consent"]), *([] if entered.code.strip() else ["code"]))


def _body(entered: Entries, request: HttpRequest, signer: Signer) -> dict[str, Any]:
    return {
        "esign_disclosure": request.POST.get("esign_disclosure", ""),
        "code": entered.code,
        "consent": entered.consent,
        "locale": language.choose(request, signer, entered.language),
        "in_person": request.GET.get("in_person"),
        "signature": None if signer.is_approver else entered.marks["signature"],
        "initials": entered.marks["initials"] if signer.request.initials_required and not signer.is_approver else None,
    }
