"""Corrections to a request while it waits for signatures: to a signer (``…/signers/{id}/correct``), and to the text of
the mails and the deadline (``…/extend``)."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django import forms
from django.db import transaction
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from paraph.dashboard.decorators import actor, done, member_page, refusals_in, show
from paraph.dashboard.drafts.options import OptionsForm
from paraph.dashboard.drafts.signers_step import SignerForm
from paraph.dashboard.requests.listing import own_request
from paraph.flow.messages.copies import mails_leave
from paraph.flow.sending.correct import correct_signer as correct
from paraph.flow.sending.correct import extend, reword
from paraph.kernel import clock
from paraph.server.client_address import origin
from paraph.signature_requests.models import Channel, SignatureRequest, Signer
from paraph.signature_requests.problems import InvalidPayloadError
from paraph.signature_requests.signing import SigningEligibility, is_over, signing_eligibility
from paraph.signature_requests.values import MOST_VALIDITY_DAYS
from paraph.tenants.members import Right
from paraph.tenants.models import Member


class CorrectionForm(SignerForm):
    """Who a signer is and how they are reached. Whether they sign or approve cannot be corrected."""

    field_order = ("first_name", "last_name", "email", "phone", "otp_channel", "language")

    def __init__(self, entered: QueryDict | None, signer: Signer, plan: str) -> None:
        super().__init__(entered, plan=plan, initial={name: getattr(signer, name) for name in self.field_order})
        del self.fields["id"], self.fields["role"]
        channels: Any = self.fields["otp_channel"]
        if signer.otp_channel == Channel.SMS:  # kept, even where no signer could choose SMS now
            channels.choices = dict([*channels.choices, (Channel.SMS.value, _("SMS"))])
        elif not signer.otp_channel:
            channels.choices, channels.required = [("", _("Their choice")), *channels.choices], False


class ChangeForm(forms.Form):
    """``subject`` and ``message`` are there only where the request mails its signers."""

    validity_days = forms.IntegerField(
        label=gettext_lazy("Days to sign, from today"), min_value=1, max_value=MOST_VALIDITY_DAYS, required=False
    )
    subject, message = OptionsForm.base_fields["subject"], OptionsForm.base_fields["message"]

    def __init__(self, entered: QueryDict | None, found: SignatureRequest) -> None:
        super().__init__(entered, initial={"subject": found.subject, "message": found.message})
        days = self.fields["validity_days"]
        days.help_text = _("Leave blank to keep the deadline, %(moment)s UTC.") % {"moment": _moment(found)}
        sentence = _("It must be 1 to %(most)s days.") % {"most": MOST_VALIDITY_DAYS}
        days.error_messages |= dict.fromkeys(("min_value", "max_value", "invalid"), sentence)
        if not found.send_email:
            del self.fields["subject"], self.fields["message"]


@member_page(Right.SEND)
def correct_signer(request: HttpRequest, member: Member, request_id: int, signer_id: int) -> HttpResponse:
    asking, found = own_request(member, request_id)
    signer = get_object_or_404(found.signers.select_related("request"), pk=signer_id)
    form = CorrectionForm(request.POST if request.method == "POST" else None, signer, asking.plan)
    earlier = signer.replaced_links
    if request.method == "POST" and form.is_valid():
        given = {name: form.cleaned_data[name] for name in form.fields}
        with _refusals_beside_fields(form):
            signer = correct(asking, actor(request, member), request_id, signer_id, given, origin=origin(request))
            corrected = _("%(name)s was corrected.") % {"name": signer.full_name}
            following = _following(signer) if signer.replaced_links > earlier else ""
            return done(request, f"{corrected} {following}".strip(), "request", member.organization_id, request_id)
    is_late = signing_eligibility(signer) in (SigningEligibility.SIGNED, SigningEligibility.EXPIRED)
    content = {"form": form, "found": found, "signer": signer, "is_late": is_late}
    return show(request, "requests/correct.html", content, member=member, environment=found.environment)


def _following(signer: Signer) -> str:
    """Return a sentence on what follows from a change of how the signer is reached."""
    if not (signer.request.send_email and mails_leave(signer)):
        return _("The earlier link no longer works. Please give them the new one.")
    if signing_eligibility(signer) is SigningEligibility.OPEN:
        return _("The earlier link no longer works. A new invitation is on its way.")
    return _("The earlier link no longer works. They are invited when it is their turn.")


@contextmanager
def _refusals_beside_fields(form: forms.Form) -> Iterator[None]:
    """Show beside the fields that it names why what is done inside was refused."""
    with refusals_in(form):
        try:
            yield
        except InvalidPayloadError as refusal:
            for path, sentence in refusal.problems:
                form.add_error(path if path in form.fields else None, sentence[:1].upper() + sentence[1:])


@member_page(Right.SEND)
def extend_request(request: HttpRequest, member: Member, request_id: int) -> HttpResponse:
    """Change the message, the deadline, or both."""
    asking, found = own_request(member, request_id)
    form, who = ChangeForm(request.POST if request.method == "POST" else None, found), actor(request, member)
    if request.method == "POST" and form.is_valid():
        entered = form.cleaned_data
        with _refusals_beside_fields(form):
            with transaction.atomic():
                if entered["validity_days"]:
                    found = extend(asking, who, request_id, entered["validity_days"], origin=origin(request))
                if "message" in entered:
                    reword(asking, who, request_id, entered["subject"], entered["message"])
            sentence = _("Saved. Signers have time until %(moment)s UTC.") % {"moment": _moment(found)}
            return done(request, sentence, "request", member.organization_id, request_id)
    content = {"form": form, "found": found, "is_late": is_over(found, clock.now())}
    return show(request, "requests/extend.html", content, member=member, environment=found.environment)


def _moment(found: SignatureRequest) -> str:
    return date_format(found.expires_at, "DATETIME_FORMAT")
