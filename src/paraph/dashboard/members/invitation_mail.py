"""The mail that brings an invitation."""

from django.utils.formats import date_format
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from paraph.account_mail.mail_account import AccountMail, hand_over
from paraph.messaging.letters import unlinked
from paraph.tenants.invitations import Invited
from paraph.tenants.models import User

_LONGEST_NAME = 80


def mail_invitation(invited: Invited) -> None:
    """Leave the mail with the link to a job, in the language of whoever invites. Call it in the transaction of the
    invitation."""
    invitation = invited.invitation
    sender = unlinked(invitation.organization.name, _LONGEST_NAME)
    inviter = invitation.invited_by.user if invitation.invited_by else None
    names = {
        "organization": sender,
        "person": _name(inviter) if inviter else sender,
        "role": invitation.get_role_display(),
        "day": date_format(invitation.expires_at),
    }
    paragraphs = [
        _("%(person)s invites you to join %(organization)s on Paraph. Your role will be: %(role)s.") % names,
        invited.url,
        _("The link works until %(day)s. If you did not expect this invitation, you can ignore it.") % names,
    ]
    subject = _("Join %(organization)s") % names
    hand_over(AccountMail(invitation.email, get_language() or "en", subject, "\n\n".join(paragraphs), invited.url))


def _name(inviter: User) -> str:
    """Return the name with its addresses broken up; where there is none, the confirmed address of the inviter."""
    return unlinked(inviter.name, _LONGEST_NAME) if inviter.name else inviter.email
