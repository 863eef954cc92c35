"""Mail the member who sent a request from the dashboard what became of it, and warn before it expires: each once."""

from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils.translation import override

from paraph.flow.messages import sender_emails
from paraph.flow.messages.sent_once import DueEmail, mail_once
from paraph.kernel import clock
from paraph.messaging.letters import EmailContent
from paraph.queue.jobs import defer
from paraph.signature_requests.models import Inquiry, RequestStatus, SenderMail, SignatureRequest, Signer
from paraph.tenants.accounts import wants
from paraph.tenants.models import MailKind, Member, User


def owe_mail(request: SignatureRequest, kind: MailKind, about: int = 0) -> None:
    """Queue a mail that tells the sender what happened; do nothing where it was queued before, or where no member sent
    the request. ``about``: the id of the signer or inquiry, or the number of days."""
    if request.sent_by_id is None:
        return
    name = f"{kind}-{request.pk}-{about}"
    with transaction.atomic():
        mail, is_new = SenderMail.objects.get_or_create(
            name=name, defaults={"request_id": request.pk, "kind": kind, "about": about}
        )
        if is_new:
            defer("tell_sender", name=mail.name)


def tell_sender(name: str) -> None:
    """Send the mail that is owed under this name, unless the member has turned such mails off or is no member any more,
    or what it says is no longer true.

    Safe to repeat. Raise ``OSError`` when the gateway does not take the mail. It is in no ceiling of messages:
    a sender who signs as well must still get codes.
    """
    mail_once(
        message_id(name),
        lambda: _due(name),
        lambda _acknowledgement: SenderMail.objects.filter(pk=name).update(sent_at=clock.now()),
    )


def is_owed(name: str) -> bool:
    """Return whether the mail is to be sent yet."""
    return _due(name) is not None


def message_id(name: str) -> str:
    """Return what the mail of this name is called in the captured inbox."""
    return f"sender-{name}"


def _due(name: str) -> DueEmail | None:
    mail = SenderMail.objects.select_related("request__organization", "request__sent_by").get(pk=name)
    request, user = mail.request, mail.request.sent_by
    if mail.sent_at or user is None or not _wants(user, request, mail.kind):
        return None
    with override(_language(user, request)):
        content = _content(mail)
    signer = request.signers.first()
    if content is None or signer is None:
        return None
    signer.request = request
    return DueEmail(signer, content, to=user.email, is_counted=False)


def _wants(user: User, request: SignatureRequest, kind: str) -> bool:
    is_member = Member.objects.filter(user=user, organization=request.organization_id).exists()
    is_there = user.is_active and is_member and request.organization.deleted_at is None
    return is_there and wants(user, kind)


def _language(user: User, request: SignatureRequest) -> str:
    spoken = [code for code, _name in settings.LANGUAGES]
    return next((each for each in (user.language, request.locale[:2]) if each in spoken), spoken[0])


def _content(mail: SenderMail) -> EmailContent | None:
    """Return what the mail says, None where there is nothing left to say."""
    request, is_open = mail.request, mail.request.status == RequestStatus.PENDING
    match MailKind(mail.kind):
        case MailKind.COMPLETED:
            return sender_emails.completed(request)
        case MailKind.EXPIRING:
            return sender_emails.expiring(request) if is_open and clock.now() < request.expires_at else None
        case MailKind.ASKED:
            return _asked(mail)
        case MailKind.DECLINED:
            return sender_emails.declined(Signer.objects.select_related("request").get(pk=mail.about))
        case MailKind.UNDELIVERED:
            signer = Signer.objects.select_related("request").filter(pk=mail.about, notified_at=None).first()
            return sender_emails.undelivered(signer) if signer and is_open and not signer.invitation else None


def _asked(mail: SenderMail) -> EmailContent | None:
    """Return what the mail about an inquiry says, None where the inquiry was erased, or is forwarded to the sender's
    own address."""
    inquiry = Inquiry.objects.select_related("signer__request").filter(pk=mail.about).first()
    user, contact = mail.request.sent_by, mail.request.organization.contact_email
    if inquiry is None or user is None or contact.casefold() == user.email.casefold():
        return None
    return sender_emails.asked(inquiry)


_DAYS = {3: 1, 1: 0}  # from so many days before the end until so many; a day later the mail would say less
_AT_ONCE = 500


def warn_senders() -> int:
    """Queue a warning to the sender of each request that is about to expire, and return how many. A request that never
    had more time than that gets none. Safe to repeat, and to be late."""
    return sum(_warn(before, until) for before, until in _DAYS.items())


def _warn(before: int, until: int) -> int:
    now = clock.now()
    told = SenderMail.objects.filter(request=OuterRef("pk"), kind=MailKind.EXPIRING, about=before)
    due = SignatureRequest.objects.filter(
        ~Exists(told),
        status=RequestStatus.PENDING,
        expires_at__gt=now + timedelta(days=until),
        expires_at__lte=now + timedelta(days=before),
        validity_days__gt=before,
        sent_by__isnull=False,
    )
    rows = list(due.order_by("expires_at", "pk")[:_AT_ONCE])
    for request in rows:
        owe_mail(request, MailKind.EXPIRING, before)
    return len(rows)
