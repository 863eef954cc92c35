"""``/invitations/{secret}``: what somebody is invited to. ``GET`` explains and changes nothing, since mail scanners
follow links; ``POST`` accepts."""

from urllib.parse import urlencode

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from paraph.account_mail.mail_account import hand_over
from paraph.dashboard.decorators import actor_of, see_other, show
from paraph.kernel.errors import DomainError
from paraph.messaging.letters import unlinked
from paraph.tenants.members import Invited, State, accept_invitation, invitation_of, state
from paraph.tenants.models import Invitation, User

_ACCEPTS = "accepts_invitation"  # of a session: who pressed the button before they had logged in need not press again


@never_cache
def invitation(request: HttpRequest, secret: str) -> HttpResponse:
    """Return the page for whoever is invited: newcomers make an account, others log in, and both are
    members then."""
    found = invitation_of(secret)
    if found is None:
        return show(request, "invitation/unknown.html", {}, status=404)
    if state(found) != State.OPEN:
        return show(request, "invitation/over.html", {"invitation": found, "state": state(found)}, status=410)
    if not request.user.is_authenticated:
        return _to_stranger(request, found)
    user = request.user
    if user.email != found.email:
        return show(request, "invitation/wrong_account.html", {"invitation": found}, status=403)
    if request.method == "POST" or request.session.pop(_ACCEPTS, None) == found.pk:
        return _accepted(request, secret, user)
    return show(request, "invitation/open.html", {"invitation": found})


def _to_stranger(request: HttpRequest, found: Invitation) -> HttpResponse:
    """Ask to log in, or to make an account. The link proves that its reader has the address: it may tell whether there
    is an account, and the one that they make is confirmed."""
    has_account = User.objects.filter(email=found.email).exists()
    if request.method != "POST":
        content = {"invitation": found, "has_account": has_account, "single_sign_on": bool(settings.PARAPH.sso_issuer)}
        return show(request, "invitation/open.html", content)
    request.session[_ACCEPTS] = found.pk
    if not has_account:
        get_adapter(request).stash_verified_email(request, found.email)
    entry = reverse("account_login" if has_account else "account_signup")
    return see_other(f"{entry}?{urlencode({'next': request.path})}")


def _accepted(request: HttpRequest, secret: str, user: User) -> HttpResponse:
    try:
        member = accept_invitation(secret, user, actor_of(user, request))
    except DomainError:
        return see_other(request.path)  # it ended meanwhile: its page says how
    return see_other("home", member.organization_id)


_LONGEST_NAME = 80


def mail_invitation(invited: Invited) -> None:
    """Leave the mail with the link to a job, in the language of whoever invites. Call it in the transaction of the
    invitation."""
    invitation = invited.invitation
    sender = unlinked(invitation.organization.name, _LONGEST_NAME)
    inviter = invitation.invited_by.user if invitation.invited_by else None
    # A name has its addresses broken up; where there is none, the inviter's address is a confirmed one.
    own = inviter and (unlinked(inviter.name, _LONGEST_NAME) if inviter.name else inviter.email)
    names = {
        "organization": sender,
        "person": sender if own is None else own,
        "role": invitation.get_role_display(),
        "day": date_format(invitation.expires_at),
    }
    paragraphs = [
        _("%(person)s invites you to join %(organization)s on Paraph. Your role will be: %(role)s.") % names,
        invited.url,
        _("The link works until %(day)s. If you did not expect this invitation, you can ignore it.") % names,
    ]
    subject = _("Join %(organization)s") % names
    hand_over(invitation.email, get_language() or "en", subject, "\n\n".join(paragraphs), invited.url)
