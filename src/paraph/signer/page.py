"""``GET /sign/{token}``: what the signer reads, agrees to and signs. ``POST``: the same journey without scripts."""

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.gzip import gzip_page

from paraph.flow.messages.leaving import mails_leave
from paraph.flow.signing.send_otp import is_kept, masked
from paraph.kernel import clock
from paraph.otp import guesses
from paraph.otp.channels import channels, destination
from paraph.pdf.typesetting.glyph_fallback import initials_of, readable_name, written_otherwise
from paraph.server.client_address import client_address
from paraph.signature_requests.localized import consent_notice
from paraph.signature_requests.models import FirstOpening, Signer
from paraph.signature_requests.signing_eligibility import SigningEligibility, signing_eligibility
from paraph.signer import documents, language, plain_form
from paraph.signer.answers import say_when
from paraph.signer.authentication import signer_with_turn
from paraph.signer.described import LANG, described
from paraph.signer.fill_step import fields_on
from paraph.signer.in_person import ticket_of
from paraph.signer.notice import mail_again, notice
from paraph.signer.onward import onward
from paraph.signer.otp import sent_code
from paraph.signer.plain_form import Entries
from paraph.signer.shell import show
from paraph.signer.words_script import words_address

_METHODS = ["GET", "HEAD", "POST"]
_APPROVING = ("signing", "unshown", "signed_title", "receipt_signer", "receipt_time")  # what scripts say otherwise


@csrf_exempt  # the secret in the address is all permission there is
@gzip_page
@described("GET /sign/{token}", "showSigningPage", "The page.", "text/html", query=(LANG,))
def page(request: HttpRequest, token: str) -> HttpResponse:
    """Open the signing page.

    The page, in three steps: read, your signature, confirm; where the signer has fields, filling in follows the
    reading. It may be shown in a frame of the sites that the application names, or of any where it names none.

    Where there is nothing to sign, the page says why: with 200 for who has signed, or may only read until it is their
    turn; with 410 once the time is over; with 429 for who is locked after too many wrong codes; with 404 for a link
    that is nobody's. `data-state` on `<body>` is `ready`, `not_your_turn`, `expired`, `already_signed`, `locked` or
    `not_found`, and `signed` on the page that signed.
    """
    if request.method not in _METHODS:
        return HttpResponseNotAllowed(_METHODS)
    signer = signer_with_turn(token)
    if signer is None:
        return notice(request, "not_found", status=404)
    found = signing_eligibility(signer)
    if found is not SigningEligibility.OPEN and found is not SigningEligibility.NOT_YOUR_TURN:
        asks = found is SigningEligibility.SIGNED and request.method == "POST"
        return mail_again(request, signer) if asks else notice(request, found.value, signer)
    if found is SigningEligibility.OPEN and (until := guesses.locked_until(signer)):
        return notice(request, "locked", signer, until=until)
    if request.method == "POST":
        answer = plain_form.answer(request, signer)
        return answer if isinstance(answer, HttpResponse) else _page(request, signer, token, answer, found)
    if request.method == "GET":  # who asks for the head alone sees no documents
        opening = FirstOpening(signer=signer, opened_at=clock.now(), ip=client_address(request))
        FirstOpening.objects.bulk_create([opening], ignore_conflicts=True)  # a later one changes nothing
    return _page(request, signer, token, Entries(), found)


def _page(
    request: HttpRequest, signer: Signer, token: str, entries: Entries, found: SigningEligibility
) -> HttpResponse:
    """``entries``: what a form that could not be taken, or that was sent to change the language, had in it."""
    is_turn = found is SigningEligibility.OPEN
    locale = language.choose(request, signer, entries.language)
    shown = documents.contents(signer, locale)
    initials = signer.request.initials_required and not signer.is_approver
    words = language.words(locale, signer)
    content = {
        "state": "ready" if is_turn else "not_your_turn",
        "token": token,
        "asked_language": bool(request.GET.get("lang") or entries.language),
        "documents": shown,
        **fields_on(signer, shown, locale, entries.refusal, may_fill=is_turn),
        "places": _places(shown),
        "words_address": words_address(locale),
        "script_words": {name: words[name] for name in _APPROVING} if signer.is_approver else None,
        "consent": consent_notice(locale, len(shown), approves=signer.is_approver),
        "expires_at": signer.request.expires_at,
        "onward": onward(signer),
        **ticket_of(request, signer),
        "decline_url": _decline_url(request, signer, entries) if is_turn else "",
        "before": _signers_before(signer) if not is_turn else 0,
        "is_mailed": not is_turn and signer.request.send_email and mails_leave(signer),
        "written": None if signer.is_approver else _written(signer),
        "initials": initials_of(readable_name(signer.full_name, signer.email)) if initials else "",
        "channels": [_channel(signer, channel.value) for channel in channels(signer)],
        "sent": sent_code(signer),
        "entries": entries,
        "problems": entries.problems(words),
    }
    response = show(request, "signer/page.html", content, signer=signer, locale=locale, status=entries.status)
    return say_when(response, entries.refusal) if entries.refusal else response


def _decline_url(request: HttpRequest, signer: Signer, entries: Entries) -> str:
    """Return the address of the page to decline on, which ends in ``/decline`` also where it names a language or the
    ticket of a member's device; "" where the request does not let its signers decline."""
    if not signer.request.decline_allowed:
        return ""
    asked = entries.language or request.GET.get("lang")
    named = ticket_of(request, signer) | ({"lang": language.choose(request, signer, asked)} if asked else {})
    return f"{request.path}/decline{f'?{urlencode(named)}#/decline' if named else ''}"


def _written(signer: Signer) -> tuple[SafeString, SafeString] | None:
    """Return the signer's name and what the stamp says in its place, where no font has its letters."""
    written = written_otherwise(signer.full_name, signer.email)
    marked = "<bdi>{}</bdi>"
    return (format_html(marked, signer.full_name), format_html(marked, written)) if written else None


def _channel(signer: Signer, channel: str) -> dict[str, Any]:
    recipient = masked(destination(signer, channel)[1])
    return {"name": channel, "recipient": recipient, "is_kept": is_kept(signer, channel)}


def _places(shown: list[dict[str, Any]]) -> list[dict[str, str]]:
    return [
        {"number": box["number"], "document": document["id"], "name": document["name"], "page": page["number"]}
        for document in shown
        for page in document["pages"]
        for box in page["boxes"]
    ]


def _signers_before(signer: Signer) -> int:
    return signer.request.signers.filter(order__lt=signer.order, signed_at__isnull=True).count()
