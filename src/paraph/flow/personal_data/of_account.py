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
from paraph.flow.personal_data.place import Facts, Person, Place, among, names_person, telling, with_address
from paraph.kernel import clock
from paraph.request_templates.models import BulkSend, Template
from paraph.signature_requests.models import SignatureRequest
from paraph.tenants.models import Activity, Invitation, Member, MutedMail, Operator, Organization, User

_OF_PROVIDER = "uid extra_data" if apps.is_installed("allauth.socialaccount") else ""
_LOG = "The activity log forgets nothing: it tells an organization who did what with its data."
_ACCOUNT = "An organization can end the membership. The account stays, so that what was done with it has its author."


def _users(person: Person) -> Iterator[User]:
    further = EmailAddress.objects.filter(among(person, "email")).values("user_id")
    yield from User.objects.filter(among(person, "email") | Q(pk__in=further)).order_by("pk")


def _told_logins(user: User) -> list[Facts]:
    """Return what the provider of single sign-on said of the person; nothing where there is none in the settings."""
    if not apps.is_installed("allauth.socialaccount"):
        return []
    accounts: Any = apps.get_app_config("socialaccount").get_model("socialaccount")
    return list(map(telling("provider uid said=extra_data last_login"), accounts.objects.filter(user_id=user.pk)))


_tell_member = telling("organization_id role joined_at last_seen_at last_language")
_tell_session = telling("ip user_agent created_at last_seen_at")


def _around(user: User) -> Facts:
    """Return what is kept beside an account."""
    return {
        "muted_mails": list(MutedMail.objects.filter(user=user).values_list("kind", flat=True)),
        "second_factors": list(Authenticator.objects.filter(user_id=user.pk).values_list("type", flat=True)),
        "is_operator": Operator.objects.filter(user=user).exists(),
        "memberships": [_tell_member(member) for member in Member.objects.filter(user=user).order_by("pk")],
        "single_sign_on": _told_logins(user),
        "sessions": [_tell_session(session) for session in UserSession.objects.filter(user_id=user.pk)],
    }


def _addresses(user: User) -> Facts:
    return {"addresses": list(EmailAddress.objects.filter(user_id=user.pk).values_list("email", flat=True))}


def _moments(invitation: Invitation) -> Facts:
    told = telling("created_at accepted_at withdrawn_at")(invitation)
    return {name: moment for name, moment in told.items() if moment}


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
    named = among(person, "actor")
    for address in person.addresses:
        named |= Q(subject__icontains=address) | Q(old__icontains=address) | Q(new__icontains=address)
    yield from Activity.objects.annotate(**texts).filter(named).order_by("organization_id", "pk")


def _default_messages(person: Person) -> Iterator[Organization]:
    rows = Organization.objects.filter(request_defaults__has_key="message").order_by("pk")
    yield from (row for row in rows if row.request_defaults and names_person(person, row.request_defaults["message"]))


OF_ACCOUNT: tuple[Place[Person, Any], ...] = (
    Place(
        "accounts",
        "members_user: email name; account_emailaddress: email; usersessions_usersession: ip user_agent"
        f"; socialaccount_socialaccount: {_OF_PROVIDER}",
        _users,
        telling("id email", _addresses, "name language created_at last_login", _around),
        stays=_ACCOUNT,
    ),
    Place(
        "invitations of members",
        "members_invitation: email",
        with_address(Invitation, "email"),
        telling("organization_id email role", _moments),
        stays="They say who was given access, and by whom.",
    ),
    Place(
        "made in the dashboard",
        "request_templates_bulksend: ip user_agent",
        _made,
        _told_made,
        stays="It belongs to the organization, whose members delete it.",
    ),
    Place(
        "activity log",
        "activity_activity: actor ip subject before after",
        _acts,
        telling("organization_id id actor ip action subject before after at=created_at"),
        stays=_LOG,
    ),
    Place(
        "contact addresses",
        "organizations_organization: contact_email",
        with_address(Organization, "contact_email"),
        telling("organization_id=pk contact_email"),
        stays="The organization can put another in its place.",
    ),
    Place(
        "messages that requests begin with",
        "organizations_organization: request_defaults",
        _default_messages,
        telling("organization_id=pk", lambda row: {"message": row.request_defaults["message"]}),
        stays="It is the organization's own text for everybody, which it can change.",
    ),
)
