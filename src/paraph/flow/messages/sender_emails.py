"""The mails to the member who sent a request, in their language. Names that others chose are unlinked."""

from collections.abc import Sequence

from django.conf import settings
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from paraph.flow.messages.names import MAX_LENGTH, signer_name
from paraph.messaging.letters import EmailContent, Letter, lay_out, plain, unlinked
from paraph.signature_requests.models import Inquiry, InquiryKind, Role, SignatureRequest, Signer, SignerStatus

_MOST_NAMES = 5


def completed(request: SignatureRequest) -> EmailContent:
    facts = _facts(request)
    if request.signers.filter(role=Role.APPROVER).exists():
        subject = _("Signed and approved: %(title)s")
        sentence = _("Everybody has signed or approved “%(title)s”. The signed documents and the proof are ready.")
    else:
        subject = _("Signed by everybody: %(title)s")
        sentence = _("Everybody has signed “%(title)s”. The signed documents and the proof are ready.")
    return _laid_out(request, subject % facts, sentence % facts)


def expiring(request: SignatureRequest) -> EmailContent:
    signers = list(request.signers.order_by("order"))
    unsigned = [signer for signer in signers if signer.status != SignerStatus.SIGNED]
    facts = _facts(request) | {
        "moment": f"{request.expires_at:%Y-%m-%d %H:%M} UTC",
        "day": f"{request.expires_at:%Y-%m-%d}",
        "signed": len(signers) - len(unsigned),
        "count": len(signers),
        "names": _listed(unsigned),
    }
    if any(signer.is_approver for signer in signers):
        progress = _("%(signed)d of %(count)d signed or approved. Waiting for %(names)s.")
    else:
        progress = _("%(signed)d of %(count)d signed. Waiting for %(names)s.")
    return _laid_out(
        request,
        _("Expires on %(day)s: %(title)s") % facts,
        _("“%(title)s” expires on %(moment)s, and nobody can sign it then.") % facts,
        progress % facts,
    )


def asked(inquiry: Inquiry) -> EmailContent:
    """Say that a signer wrote, and not what: that stands on the page of the request, until it is erased."""
    request = inquiry.signer.request
    facts = _facts(request) | {"name": signer_name(inquiry.signer)}
    sentence = {
        InquiryKind.QUESTION: _("%(name)s has a question about “%(title)s”."),
        InquiryKind.NOT_ME: _("%(name)s says that “%(title)s” is not for them."),
    }[InquiryKind(inquiry.kind)]
    subject = _("%(name)s wrote to you: %(title)s") % facts
    return _laid_out(request, subject, sentence % facts, _("Their message is on the page of the request."))


def declined(signer: Signer) -> EmailContent:
    """Say who declined, and not why: that stands on the page of the request, until it is erased."""
    request = signer.request
    facts = _facts(request) | {"name": signer_name(signer)}
    return _laid_out(
        request,
        _("Declined by %(name)s: %(title)s") % facts,
        _("%(name)s has declined “%(title)s”. The request has ended, and nobody can sign it any more.") % facts,
        _("Their reason is on the page of the request."),
    )


def undelivered(signer: Signer) -> EmailContent:
    request = signer.request
    facts = _facts(request) | {"name": signer_name(signer), "address": signer.email}
    return _laid_out(
        request,
        _("Not delivered: the invitation to %(name)s") % facts,
        _("No mail server has accepted the invitation to %(name)s (%(address)s) for “%(title)s”. Is the address right?")
        % facts,
        _("We will retry for three days. You can also give them the signing link yourself."),
    )


def _facts(request: SignatureRequest) -> dict[str, object]:
    first = request.request_documents.select_related("document").order_by("position").first()
    name = request.title or (first.document.name if first else f"#{request.pk}")
    return {"title": unlinked(name.removesuffix(".pdf"), MAX_LENGTH)}


def _listed(signers: Sequence[Signer]) -> str:
    names = [signer_name(signer) for signer in signers]
    return ", ".join([*names[:_MOST_NAMES], *(["…"] if len(names) > _MOST_NAMES else [])])


def _laid_out(request: SignatureRequest, subject: str, *lines: str) -> EmailContent:
    base = settings.PARAPH.public_url
    choose = _(
        "You received this mail because you sent the request. You can choose which mails you get in your account:"
    )
    return lay_out(
        Letter(
            locale=get_language() or "en",
            subject=subject,
            preview=lines[0],
            sender="Paraph",
            lines=[plain(line) for line in lines],
            closing=[plain(f"{choose} {base}/account/")],
            action=(_("Open the request"), f"{base}/app/{request.organization_id}/requests/{request.pk}"),
        )
    )
