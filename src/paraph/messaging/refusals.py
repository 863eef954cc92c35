"""Whose fault it is that a mail server did not take a mail: that of the recipient, whose mailbox it refuses, or ours to
mend, where it refuses our login, our sender, our relaying or what its policy says of us.

A reply has a code (RFC 5321, 4.2) and mostly an enhanced one (RFC 3463), which is more exact. In doubt the recipient is
not at fault, and the mail is sent again.
"""

import re
from smtplib import SMTPDataError, SMTPRecipientsRefused

from paraph.kernel.errors import RecipientRefusedError
from paraph.messaging.letters import unlinked

_ENHANCED = re.compile(r"(?<![\d.])[45]\.(\d{1,3}\.\d{1,3})(?!\.?\d)")
_SAYS_LITTLE = ("", "1.0")
# no such mailbox, system or name; disabled, full, or a list that fails; no way there; closed, or another's by now
_OF_RECIPIENT = re.compile(r"1\.([012346]|10)|2\.[124]|4\.(1|4|310)|7\.1[37]")
_MAILBOX = (450, 550, 551, 552, 553, 556)  # codes that speak of one, if nothing more exact stands there
_OF_US = re.compile("relay|sender|from|auth|block|list|policy|spam|client|host|helo|limit|rate", re.IGNORECASE)
_ADDRESS = re.compile(r"<?[^\s<>]*(?:@|://)[^\s<>]*>?")
_READ, _LONGEST = 1000, 200


class FinallyRefusedError(RecipientRefusedError):
    """There is no use in sending such a message to the recipient again."""


def refusal_of(error: SMTPRecipientsRefused | SMTPDataError, recipient: str) -> RecipientRefusedError | None:
    """Return the refusal of the recipient that a reply to ``RCPT`` or ``DATA`` is, None where it is none."""
    if isinstance(error, SMTPDataError):
        code, reply = error.smtp_code, error.smtp_error
    else:
        [(code, reply)] = error.recipients.values()
    words = (reply.decode(errors="replace") if isinstance(reply, bytes) else reply)[:_READ]
    found = _ENHANCED.search(words)
    status = found[1] if found else ""
    is_about_mailbox = bool(_OF_RECIPIENT.fullmatch(status)) if status else code in _MAILBOX
    if status in _SAYS_LITTLE:
        named = isinstance(error, SMTPRecipientsRefused) or recipient.casefold() in words.casefold()
        is_about_mailbox = is_about_mailbox and named and not _OF_US.search(_ADDRESS.sub("", words))
    if not is_about_mailbox or code == 421:  # the server ends the connection
        return None
    kind = FinallyRefusedError if code >= 500 else RecipientRefusedError
    return kind(unlinked(_ADDRESS.sub("…", f"{code} {words}"), _LONGEST))
