"""What is kept of a person who works with the service, or was asked to: accounts, and what was done with them."""

from collections.abc import Iterator
from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.apps import apps
from django.db.models import CharField, Q
from django.db.models.functions import Cast

from paraph.drafts.models import Draft
from paraph.flow.personal_data.place import Facts, Person, Place, columns
from paraph.kernel import clock
from paraph.request_templates.models import BulkSend, Template
from paraph.signature_requests.models import SignatureRequest
from paraph.tenants.admin_log.models import Activity
from paraph.tenants.models import Invitation, Member, MutedMail, Organization, User

_OF_PROVIDER = "uid extra_data" if apps.is_installed("allauth.socialaccount") else ""
_LOG = "The activity log forgets nothing: it tells an organization who did what with its data."
_ACCOUNT = "An organization can end the membership. The account stays, so that what was done with it has its author."


def _among(person: Person, path: str) -> Q:
    """Rows in which one of the addresses stands at the path, in letters of either case."""
    found = Q(pk__in=[])
    for address in person.addresses:
        found |= Q(**{f"{path}__iexact": address})
    return found


def _users(person: Person) -> Iterator[User]:
    further = EmailAddress.objects.filter(_among(person, "email")).values("user_id")
    yield from User.objects.filter(_among(person, "email") | Q(pk__in=further)).order_by("pk")


def _told_user(user: User) -> Facts:
    return {
        "id": user.pk,
        "email": user.email,
        "addresses": list(EmailAddress.objects.filter(user_id=user.pk).values_list("email", flat=True)),
        "name": user.name,
        "language": user.language,
        "created_at": clock.iso(user.created_at),
        "last_login": clock.iso(user.last_login) if user.last_login else None,
        "muted_mails": list(MutedMail.objects.filter(user=user).values_list("kind", flat=True)),
        "second_factors": list(Authenticator.objects.filter(user_id=user.pk).values_list("type", flat=True)),
        "memberships": [_told_member(member) for member in Member.objects.filter(user=user).order_by("pk")],
        "single_sign_on": _told_logins(user),
        "sessions": [_told_session(session) for session in UserSession.objects.filter(user_id=user.pk)],
    }


def _told_logins(user: User) -> list[Facts]:
    """Return what the provider of single sign-on said of the person; nothing where there is none in the settings."""
    if not apps.is_installed("allauth.socialaccount"):
        return []
    accounts: Any = apps.get_app_config("socialaccount").get_model("socialaccount")
    return [
        {"provider": each.provider, "uid": each.uid, "said": each.extra_data, "last_login": clock.iso(each.last_login)}
        for each in accounts.objects.filter(user_id=user.pk)
    ]


def _told_member(member: Member) -> Facts:
    return {
        "organization_id": member.organization_id,
        "role": member.role,
        "joined_at": clock.iso(member.joined_at),
        "last_seen_at": clock.iso(member.last_seen_at) if member.last_seen_at else None,
    }


def _told_session(session: UserSession) -> Facts:
    return {
        "ip": session.ip,
        "user_agent": session.user_agent,
        "created_at": clock.iso(session.created_at),
        "last_seen_at": clock.iso(session.last_seen_at),
    }


def _invitations(person: Person) -> Iterator[Invitation]:
    yield from Invitation.objects.filter(_among(person, "email")).order_by("pk")


def _told_invitation(invitation: Invitation) -> Facts:
    told = {"organization_id": invitation.organization_id, "email": invitation.email, "role": invitation.role}
    moments = {
        "created_at": invitation.created_at,
        "accepted_at": invitation.accepted_at,
        "withdrawn_at": invitation.withdrawn_at,
    }
    return told | {name: clock.iso(moment) for name, moment in moments.items() if moment}


def _made(person: Person) -> Iterator[Draft | Template | BulkSend | SignatureRequest]:
    users = [user.pk for user in _users(person)]
    for model in (Draft, Template, BulkSend):
        yield from model.objects.filter(author__in=users).order_by("pk")
    yield from SignatureRequest.objects.filter(sent_by__in=users).order_by("pk")


def _told_made(made: Draft | Template | BulkSend | SignatureRequest) -> Facts:
    kinds = {Draft: "draft", Template: "template", BulkSend: "bulk send", SignatureRequest: "request"}
    name = made.file_name if isinstance(made, BulkSend) else made.name if isinstance(made, Template) else made.title
    told = {"organization_id": made.organization_id, "kind": kinds[type(made)], "id": made.pk, "name": name}
    told["created_at"] = clock.iso(made.created_at)
    return {**told, "ip": made.ip, "user_agent": made.user_agent} if isinstance(made, BulkSend) else told


def _acts(person: Person) -> Iterator[Activity]:
    """Return what the activity log has of the person, and entries whose subject or details name an address of
    theirs."""
    texts = {"old": Cast("before", CharField()), "new": Cast("after", CharField())}
    named = _among(person, "actor")
    for address in person.addresses:
        named |= Q(subject__icontains=address) | Q(old__icontains=address) | Q(new__icontains=address)
    yield from Activity.objects.annotate(**texts).filter(named).order_by("organization_id", "pk")


def _told_act(act: Activity) -> Facts:
    return {
        "organization_id": act.organization_id,
        "id": act.pk,
        "actor": act.actor,
        "ip": act.ip,
        "action": act.action,
        "subject": act.subject,
        "before": act.before,
        "after": act.after,
        "at": clock.iso(act.created_at),
    }


def _contacts(person: Person) -> Iterator[Organization]:
    yield from Organization.objects.filter(_among(person, "contact_email")).order_by("pk")


OF_ACCOUNT: tuple[Place[Person, Any], ...] = (
    Place(
        "accounts",
        columns("members_user", "email name")
        | columns("account_emailaddress", "email")
        | columns("usersessions_usersession", "ip user_agent")
        | columns("socialaccount_socialaccount", _OF_PROVIDER),
        _users,
        _told_user,
        stays=_ACCOUNT,
    ),
    Place(
        "invitations of members",
        columns("members_invitation", "email"),
        _invitations,
        _told_invitation,
        stays="They say who was given access, and by whom.",
    ),
    Place(
        "made in the dashboard",
        columns("request_templates_bulksend", "ip user_agent"),
        _made,
        _told_made,
        stays="It belongs to the organization, whose members delete it.",
    ),
    Place("activity log", columns("activity_activity", "actor ip subject before after"), _acts, _told_act, stays=_LOG),
    Place(
        "contact addresses",
        columns("organizations_organization", "contact_email"),
        _contacts,
        lambda organization: {"organization_id": organization.pk, "contact_email": organization.contact_email},
        stays="The organization can put another in its place.",
    ),
)
