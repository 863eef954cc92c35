"""Mails that tell of a request, each sent once. The member who sent it reads, in their language, what became of it, and
is warned before it expires. Signers read that it ended early, because its sender withdrew it or somebody declined; a
decline is also mailed to the organization's contact address. Names that others chose are unlinked."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils.translation import get_language, override
from django.utils.translation import gettext as _

from paraph.flow.messages import emails
from paraph.flow.messages.emails import MAX_LENGTH, declined_to_contact, quoted, sender_language, signer_name
from paraph.flow.messages.sent_once import CONTACT, READ_ALONG, DueEmail, mail_rows_once, queue_mail
from paraph.kernel import clock
from paraph.messaging.letters import EmailContent, Letter, Sentence, lay_out, plain, unlinked
from paraph.queue.jobs import defer
from paraph.signature_requests.models import (
    Channel,
    CopyRecipient,
    Inquiry,
    InquiryKind,
    RequestStatus,
    Role,
    SenderMail,
    SignatureRequest,
    Signer,
    SignerStatus,
)
from paraph.tenants.accounts import wants
from paraph.tenants.models import MailKind, Member, User
from paraph.words import date, moment

_DAYS = {3: 1, 1: 0}  # a warning is sent from so many days before the end until so many; later, it would say less
EXPIRY_WARNINGS = tuple(_DAYS)
_AT_ONCE = 500
_MOST_NAMES = 5


def tell_sender(name: str) -> None:
    """Send the mail queued under this name, unless the member has turned such mails off or is no member any more, or
    what it says is no longer true. Safe to repeat. Raise ``OSError`` when the gateway does not take the mail,
    ``TooManyMessagesError`` where one to the contact address is put off. Mails to the member count against no ceiling
    of messages: a sender who also signs must still get codes."""
    mail_rows_once("sender", SenderMail.objects.select_related(*READ_ALONG).filter(pk=name), "sent_at", due_mail)


def is_notified(request: SignatureRequest, kind: MailKind, address: str) -> bool:
    """Return whether the member who sent the request has this address and gets mails of this ``kind``."""
    user = request.sent_by
    return user is not None and user.email.casefold() == address.casefold() and _wants(user, request, kind)


def due_mail(mail: SenderMail) -> DueEmail | None:
    """Return the queued mail, which is not out; None where it is not to be sent."""
    request, user = mail.request, mail.request.sent_by
    if mail.kind == CONTACT:
        return _due_to_contact(request, mail.about)
    if user is None or not _wants(user, request, mail.kind):
        return None
    known, wanted = [code for code, _name in settings.LANGUAGES], sender_language(request)[:2]
    with override(wanted if wanted in known else known[0]):
        content = _content(mail)
    signer = request.signers.first()
    if content is None or signer is None:
        return None
    signer.request = request
    return DueEmail(signer, content, to=user.email, is_counted=False)


def _due_to_contact(request: SignatureRequest, decliner_id: int) -> DueEmail | None:
    """Return the mail that says who declined and why, with replies to the signer; None where there is no contact
    address any more, or it is that of the sender, who is told anyway."""
    contact = request.organization.contact_email
    if not contact or is_notified(request, MailKind.DECLINED, contact):
        return None
    decliner = Signer.objects.get(pk=decliner_id)
    decliner.request = request
    return DueEmail(decliner, declined_to_contact(decliner), to=contact, reply_to=decliner.email)


def _wants(user: User, request: SignatureRequest, kind: str) -> bool:
    is_member = Member.objects.filter(user=user, organization=request.organization_id).exists()
    is_there = user.is_active and is_member and request.organization.deleted_at is None
    return is_there and wants(user, kind)


def _content(mail: SenderMail) -> EmailContent | None:
    """Return what the mail says, None where there is nothing left to say, such as of an inquiry that was erased or is
    forwarded to the sender's own address."""
    request, is_open = mail.request, mail.request.status == RequestStatus.PENDING
    match MailKind(mail.kind):
        case MailKind.COMPLETED:
            return None if _gets_summary(request) else _completed(request)
        case MailKind.EXPIRING:
            return _expiring(request) if is_open and clock.now() < request.expires_at else None
        case MailKind.ASKED:
            inquiry = Inquiry.objects.select_related("signer__request").filter(pk=mail.about).first()
            user, contact = request.sent_by, request.organization.contact_email
            is_forwarded_to_them = user is None or contact.casefold() == user.email.casefold()
            return None if inquiry is None or is_forwarded_to_them else _asked(inquiry)
        case MailKind.DECLINED:
            decliner = Signer.objects.select_related("request").get(pk=mail.about)
            return None if is_notified(request, MailKind.DECLINED, decliner.email) else _declined(decliner)
        case MailKind.UNDELIVERED if mail.about <= 0:
            people: Any = request.signers.filter(pk=-mail.about) if mail.about else request.copies
            refused = list(people.filter(undelivered__isnull=False))
            return _refused(request, refused) if refused else None
        case MailKind.UNDELIVERED:
            signer = Signer.objects.select_related("request").filter(pk=mail.about, notified_at=None).first()
            return _undelivered(signer) if signer and is_open and not signer.invitation else None


def _gets_summary(request: SignatureRequest) -> bool:
    """Return whether the sender signs, too, and is mailed as a signer that everybody has signed."""
    address = request.sent_by.email if request.sent_by else ""
    return request.notify_signers_on_completion and request.signers.filter(email__iexact=address).exists()


def _completed(request: SignatureRequest) -> EmailContent:
    if request.signers.filter(role=Role.APPROVER).exists():
        subject = _("Signed and approved: %(title)s")
        sentence = _("Everyone has signed or approved “%(title)s”. The signed documents and the proof are ready.")
    else:
        subject = _("Everyone has signed: %(title)s")
        sentence = _("Everyone has signed “%(title)s”. The signed documents and the proof are ready.")
    return _laid_out(request, subject, sentence)


def _expiring(request: SignatureRequest) -> EmailContent:
    signers = list(request.signers.order_by("order"))
    unsigned = [signer for signer in signers if signer.status != SignerStatus.SIGNED]
    language = get_language() or "en"
    if any(signer.is_approver for signer in signers):
        progress = _("%(signed)d of %(count)d signed or approved. Waiting for %(names)s.")
    else:
        progress = _("%(signed)d of %(count)d signed. Waiting for %(names)s.")
    return _laid_out(
        request,
        _("Expires on %(day)s: %(title)s"),
        _("“%(title)s” expires on %(moment)s. After that, nobody can sign it."),
        progress,
        moment=moment(request.expires_at, language),
        day=date(request.expires_at, language),
        signed=len(signers) - len(unsigned),
        count=len(signers),
        names=_listed(unsigned),
    )


def _asked(inquiry: Inquiry) -> EmailContent:
    """Say that a signer wrote, but not what: their text is on the page of the request, until it is erased."""
    sentence = {
        InquiryKind.QUESTION: _("%(name)s has a question about “%(title)s”."),
        InquiryKind.NOT_ME: _("%(name)s says that “%(title)s” is not for them."),
    }[InquiryKind(inquiry.kind)]
    subject, more = _("%(name)s wrote to you: %(title)s"), _("Their message is on the page of the request.")
    return _laid_out(inquiry.signer.request, subject, sentence, more, name=signer_name(inquiry.signer))


def _declined(signer: Signer) -> EmailContent:
    return _laid_out(
        signer.request,
        _("%(name)s declined: %(title)s"),
        _("%(name)s declined to sign “%(title)s”, so the request has ended. Their reason:"),
        quoted(signer.request.ended_reason),
        _("Signatures given so far won't count."),
        name=signer_name(signer),
    )


def _undelivered(signer: Signer) -> EmailContent:
    sentence = _(
        "No mail server has accepted the invitation to %(name)s (%(address)s) for “%(title)s”. Is the address right?"
    )
    return _laid_out(
        signer.request,
        _("Not delivered: the invitation to %(name)s"),
        sentence,
        _("We will retry for three days. You can also give them the signing link yourself."),
        name=signer_name(signer),
        address=signer.email,
    )


def _refused(request: SignatureRequest, people: Sequence[Signer | CopyRecipient]) -> EmailContent:
    """Say whose messages are refused for good, with each answer, and what to do while the request is pending."""
    remedy = _("Correct the address or number on the page of the request, or send again if it is right.")
    return _laid_out(
        request,
        _("Not delivered to %(names)s: %(title)s"),
        _("A message about “%(title)s” was refused for good. We do not try again by ourselves:"),
        *(quoted("{recipient}: {answer}".format_map(each.undelivered)) for each in people[:_MOST_NAMES]),
        *([remedy] if request.status == RequestStatus.PENDING else []),
        names=_listed(people),
    )


def _listed(signers: Sequence[Signer | CopyRecipient]) -> str:
    names = [signer_name(signer) for signer in signers]
    return ", ".join([*names[:_MOST_NAMES], *(["…"] if len(names) > _MOST_NAMES else [])])


def _laid_out(request: SignatureRequest, subject: str, *lines: str | Sentence, **facts: object) -> EmailContent:
    """Lay out a mail. The ``facts`` and the ``title`` of the request are put into the subject and lines."""
    base, facts["title"] = settings.PARAPH.public_url, _title(request)
    sentences = [plain(line % facts) if isinstance(line, str) else line for line in lines]
    choose = _(
        "You received this mail because you sent the request. You can choose which mails you get in your account:"
    )
    return lay_out(
        Letter(
            locale=get_language() or "en",
            subject=subject % facts,
            preview=sentences[0].text,
            sender="Paraph",
            lines=sentences,
            closing=[plain(f"{choose} {base}/account/")],
            action=(_("Open the request"), f"{base}/app/{request.organization_id}/requests/{request.pk}"),
        )
    )


def _title(request: SignatureRequest) -> str:
    first = request.request_documents.select_related("document").order_by("position").first()
    name = request.title or (first.document.name if first else f"#{request.pk}")
    return unlinked(name.removesuffix(".pdf"), MAX_LENGTH)


def warn_senders() -> int:
    """Queue a warning to the sender of each request that is about to expire, and return how many. A request whose whole
    time is no longer than the warning's gets none. Safe to repeat, and to be late."""
    return sum(_warn(before, until) for before, until in _DAYS.items())


def _warn(before: int, until: int) -> int:
    now = clock.now()
    told = SenderMail.objects.filter(request=OuterRef("pk"), kind=MailKind.EXPIRING, about=before)
    due = SignatureRequest.objects.filter(
        ~Exists(told),
        Q(validity_days__gt=before) | Q(expires_at__gt=F("created_at") + timedelta(days=before)),
        status=RequestStatus.PENDING,
        expires_at__gt=now + timedelta(days=until),
        expires_at__lte=now + timedelta(days=before),
        sent_by__isnull=False,
    )
    rows = list(due.order_by("expires_at", "pk")[:_AT_ONCE])
    for request in rows:
        queue_mail(request, MailKind.EXPIRING, before, int(request.expires_at.timestamp()))
    return len(rows)


_INVITED = ~Q(status=SignerStatus.PENDING) | Q(invitation__isnull=False)


def queue_mails(request: SignatureRequest) -> None:
    """Queue the mails about the end, to be sent once the transaction commits: of a decline, to the member who sent the
    request and to the organization's contact address; where the request mails its signers, to those who were invited or
    have signed, but not to the signer who declined."""
    if request.declined_by_id:
        queue_mail(request, MailKind.DECLINED, request.declined_by_id)
        queue_mail(request, CONTACT, request.declined_by_id)
    for signer_id in to_be_notified(request).values_list("pk", flat=True):
        defer("tell_signer_of_end", signer_id=signer_id)


def to_be_notified(request: SignatureRequest) -> QuerySet[Signer]:
    """Return the signers who are mailed that the request ended early, whether or not the mail is out."""
    invited = request.signers.filter(_INVITED).exclude(pk=request.declined_by_id or 0)
    return invited if request.send_email else invited.none()


def tell_signer_of_end(signer_id: int) -> None:
    """Mail a signer that somebody else declined, or that the sender withdrew the request; mail nothing once the
    organization is deleted, or to a sender who also signs and is told of the decline as the sender. Safe to repeat.
    Raise as :func:`paraph.flow.messages.notices.tell_sender` does."""
    signer = Signer.objects.select_related(*READ_ALONG).filter(pk=signer_id)
    mail_rows_once("end", signer, "end_told_at", due_to_signer)


def due_to_signer(signer: Signer) -> DueEmail | None:
    """Return the mail about the end, which is not out; None where it is not to be sent."""
    request, refused = signer.request, signer.undelivered or {}  # a number that refuses codes says nothing of mails
    if refused.get("channel") == Channel.EMAIL or request.organization.deleted_at:
        return None
    if not request.declined_by_id:
        return DueEmail(signer, emails.withdrawn(signer))
    told = is_notified(request, MailKind.DECLINED, signer.email)
    return None if told else DueEmail(signer, emails.declined_to_signer(signer))
