"""Mails about an account: confirmation of its address, a link to a new password, notices of what changed."""

import json
from base64 import b64decode, b64encode

from django.conf import settings
from procrastinate.contrib.django.models import ProcrastinateJob

from paraph.kernel import tokens
from paraph.messaging.email import send_email
from paraph.messaging.gateways import FinallyRefusedError, destination_hash
from paraph.messaging.letters import EmailContent, Letter, lay_out, plain
from paraph.messaging.models import RefusedAddress
from paraph.metrics import metrics
from paraph.queue.jobs import defer

_PURPOSE = "account mails"


def hand_over(to: str, language: str, subject: str, text: str, link: str = "") -> None:
    """Hand a mail over to a job. ``text``: paragraphs with empty lines between them. ``link``: one of them, "" for
    none. The mail is encrypted, because its link opens the account and operators can read jobs."""
    paragraphs = [" ".join(part.split()) for part in text.split("\n\n")]
    lines = [plain(part) for part in paragraphs if part and part != link]
    action = (subject, link) if link else None
    content = lay_out(Letter(language, subject, lines[0].text, "Paraph", lines, [], action))
    mail = json.dumps([to, content.subject, content.text, content.html])
    defer("mail_account", sealed=b64encode(settings.SECRETS.encrypt(_PURPOSE, mail.encode())).decode())


def mail_account(sealed: str) -> None:
    """Send the mail. When the job is repeated after a crash, it may go out twice, under one Message-ID. Raise
    ``OSError`` when the gateway does not take it. A mail that its recipient refuses for good is given up, and the
    refusal is noted for the address until it takes another mail."""
    to, *content = json.loads(settings.SECRETS.decrypt(_PURPOSE, b64decode(sealed)))
    name = f"account-{tokens.sha256(sealed.encode()).hex()[:32]}"
    refused = RefusedAddress(destination=destination_hash(to))
    try:
        with metrics.message("email", "message"):
            send_email(to, EmailContent(*content), name)
        refused.delete()
    except FinallyRefusedError as refusal:
        refused.answer = str(refusal)
        refused.save()


def mails_under_earlier_secrets() -> int:
    """Return how many unsent mails are not encrypted with the secret in use."""
    waiting = ProcrastinateJob.objects.filter(task_name="paraph.flow.jobs.mail_account", status__in=["todo", "doing"])
    return sum(map(_is_earlier, waiting.values_list("args__sealed", flat=True)))


def _is_earlier(sealed: str) -> bool:
    try:
        return settings.SECRETS.renewed(_PURPOSE, b64decode(sealed)) is not None
    except ValueError:
        return True
