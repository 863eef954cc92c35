"""The form of the signing page as browsers send it without scripts: ``do=fill``, ``do=code``, ``do=sign`` or
``do=language``."""

from dataclasses import dataclass, field, replace
from typing import Any, Literal

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from pydantic import Field

from paraph.flow.signing.send_otp import send_otp
from paraph.flow.signing.sign import enter_fields, sign
from paraph.kernel import bounded_json
from paraph.kernel.errors import DomainError
from paraph.otp.codes import channels
from paraph.server.client_address import origin
from paraph.signature_requests.fields.entry import filled_fields
from paraph.signature_requests.marks import Body, typed
from paraph.signature_requests.models import Signer
from paraph.signer import language, problems
from paraph.signer.answers import STATUSES, private
from paraph.signer.authentication import MOST_COMMAS, MOST_PARTS
from paraph.signer.described import described
from paraph.signer.fill_step import form_entries
from paraph.signer.posted_form import posted_form
from paraph.signer.problems import Problem
from paraph.signer.signature import read
from paraph.signer.stamp_rate import count_entry

_MARKS = ("signature", "initials")
_FINAL = ("fill", "sign")  # what is left empty then is meant to be
_CODES = {"code": "", "code-email": "email", "code-sms": "sms"}  # each with the channel that it names


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

    def problems(self, words: dict[str, Any]) -> list[Problem]:
        """Return what is wrong, each with the field that it is about."""
        return problems.of(self.refusal, self.missing, words)


@described("POST /sign/{token}", "submitSigningForm", "Back to the same address.", "text/html", body=SigningForm)
def answer(request: HttpRequest, signer: Signer) -> HttpResponse | Entries:
    """Sign without scripts.

    The same journey as plain forms, for browsers without scripts. What could not be done is answered with the form as
    it was and what is wrong with it. A form that another site sends is refused. The link to a copy is mailed at most
    three times in a day.
    """
    try:
        entered = _entered(posted_form(request))
    except DomainError as refusal:
        return Entries(refusal=refusal)
    action = request.POST.get("do", "")
    try:
        if entries := form_entries(request.POST, signer, is_final=action in _FINAL):
            count_entry(signer.pk)
            enter_fields(signer, entries)
        if action == "fill":
            filled_fields(signer, None, language.choose(request, signer, entered.language))
            return private(HttpResponseRedirect(f"{request.get_full_path()}#sign", status=303))
        if action in _CODES:
            channel = _CODES[action] or request.POST.get("channel", "") or _first(signer)
            send_otp(signer, channel, origin(request), language.choose(request, signer, entered.language))
        elif action == "sign":
            missing = tuple(_missing(entered, signer))
            if missing:
                return replace(entered, missing=missing)
            sign(signer, read(_body(entered, request, signer), signer), origin(request))
        else:
            return entered
    except DomainError as refusal:
        return replace(entered, refusal=refusal)
    return private(HttpResponseRedirect(request.get_full_path(), status=303))


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


def _missing(entered: Entries, signer: Signer) -> list[str]:
    drawn = [kind for kind in _MARKS if entered.marks[kind].get("strokes") == [] and not signer.is_approver]
    return [*drawn, *([] if entered.consent else ["consent"]), *([] if entered.code.strip() else ["code"])]


def _body(entered: Entries, request: HttpRequest, signer: Signer) -> dict[str, Any]:
    body: dict[str, Any] = {
        "code": entered.code,
        "consent": entered.consent,
        "locale": language.choose(request, signer, entered.language),
    }
    if "in_person" in request.GET:
        body["in_person"] = request.GET["in_person"]
    if signer.is_approver:
        return body
    body["signature"] = entered.marks["signature"]
    return body | ({"initials": entered.marks["initials"]} if signer.request.initials_required else {})


def _first(signer: Signer) -> str:
    return str(channels(signer)[0].value)
