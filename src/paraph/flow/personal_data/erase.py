"""Show what is kept of a person, accounts and what was done with them included, and erase what can be erased: on
request (docs/decisions/erasure.md), or as the rules of organizations say (docs/decisions/retention.md). By the rules,
people of requests that ended long enough ago are forgotten, many requests at a time, and those who always sign what a
template makes, once they are in no request."""

import time
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import structlog
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.apps import apps
from django.db import transaction
from django.db.models import CharField, Model, Q, QuerySet, Value
from django.db.models.functions import Cast, Upper

from paraph.audit_trail.journal import erase_values, values_in
from paraph.drafts.models import Draft
from paraph.flow.events import lock_request
from paraph.flow.housekeeping.retention import PEOPLE, claim_due
from paraph.flow.personal_data.of_signer import OF_SIGNER, erase_signers, person_of
from paraph.flow.personal_data.place import Facts, Person, Place, among, names_person, showing, with_address
from paraph.flow.personal_data.unsent import UNSENT, erase_copies, erase_people_of, erase_unsent
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.messaging.models import CapturedMessage
from paraph.queue.jobs import RUN_SECONDS
from paraph.request_templates.models import BulkSend, Template
from paraph.signature_requests.models import CopyRecipient, RequestStatus, SearchTerm, SignatureRequest, Signer
from paraph.tenants.admin_log import Action, Actor, note
from paraph.tenants.lifecycle import count_forgotten
from paraph.tenants.models import Activity, Invitation, Member, MutedMail, Operator, Organization, Retention, User

_OF_PROVIDER = "uid extra_data" if apps.is_installed("allauth.socialaccount") else ""
_ACCOUNT = "An organization can end the membership. The account stays, so that what was done with it has its author."


def _users(person: Person) -> Iterator[User]:
    further = EmailAddress.objects.filter(among(person, "email")).values("user_id")
    yield from User.objects.filter(among(person, "email") | Q(pk__in=further)).order_by("pk")


def _describe_logins(user: User) -> list[Facts]:
    """Return what the provider of single sign-on said of the person; nothing where there is none in the settings."""
    if not apps.is_installed("allauth.socialaccount"):
        return []
    accounts: Any = apps.get_app_config("socialaccount").get_model("socialaccount")
    return list(map(showing("provider uid said=extra_data last_login"), accounts.objects.filter(user_id=user.pk)))


_describe_member = showing("organization_id role joined_at last_seen_at last_language")
_describe_session = showing("ip user_agent created_at last_seen_at")


def _around(user: User) -> Facts:
    """Return what is kept beside an account."""
    return {
        "muted_mails": list(MutedMail.objects.filter(user=user).values_list("kind", flat=True)),
        "second_factors": list(Authenticator.objects.filter(user_id=user.pk).values_list("type", flat=True)),
        "is_operator": Operator.objects.filter(user=user).exists(),
        "memberships": [_describe_member(member) for member in Member.objects.filter(user=user).order_by("pk")],
        "single_sign_on": _describe_logins(user),
        "sessions": [_describe_session(session) for session in UserSession.objects.filter(user_id=user.pk)],
    }


def _moments(invitation: Invitation) -> Facts:
    told = showing("created_at accepted_at withdrawn_at")(invitation)
    return {name: moment for name, moment in told.items() if moment}


def _made(person: Person) -> Iterator[Draft | Template | BulkSend | SignatureRequest]:
    users = [user.pk for user in _users(person)]
    for model in (Draft, Template, BulkSend):
        yield from model.objects.filter(author__in=users).order_by("pk")
    yield from SignatureRequest.objects.filter(sent_by__in=users).order_by("pk")


def _describe_made(made: Draft | Template | BulkSend | SignatureRequest) -> Facts:
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
        showing(
            "id email",
            lambda user: {"addresses": [each.email for each in EmailAddress.objects.filter(user_id=user.pk)]},
            "name language created_at last_login",
            _around,
        ),
        stays=_ACCOUNT,
    ),
    Place(
        "invitations of members",
        "members_invitation: email",
        with_address(Invitation, "email"),
        showing("organization_id email role", _moments),
        stays="They say who was given access, and by whom.",
    ),
    Place(
        "made in the dashboard",
        "request_templates_bulksend: ip user_agent",
        _made,
        _describe_made,
        stays="It belongs to the organization, whose members delete it.",
    ),
    Place(
        "activity log",
        "activity_activity: actor ip subject before after",
        _acts,
        showing("organization_id id actor ip action subject before after at=created_at"),
        stays="The activity log forgets nothing: it tells an organization who did what with its data.",
    ),
    Place(
        "contact addresses",
        "organizations_organization: contact_email",
        with_address(Organization, "contact_email"),
        showing("organization_id=pk contact_email"),
        stays="The organization can put another in its place.",
    ),
    Place(
        "messages that requests begin with",
        "organizations_organization: request_defaults",
        _default_messages,
        showing("organization_id=pk", lambda row: {"message": row.request_defaults["message"]}),
        stays="It is the organization's own text for everybody, which it can change.",
    ),
)


class Kept(NamedTuple):
    """One thing that is kept in a place. ``erased_by``: the command that erases it, "" for none, and then ``stays``
    says why."""

    place: str
    facts: Facts
    erased_by: str
    stays: str


def show_person(address: str) -> list[Kept]:
    """Return what is kept, in the order of the places, each thing once. Raise ``DomainError`` for an empty address.
    What can be erased is listed from the places that erasing empties, so that neither misses one. What an organization
    has under a signer's name or further address is found in the same way as when the signer is erased; what is found in
    both ways is returned once."""
    address = address.strip()
    if not address:
        raise DomainError("validation_error", "The address must not be empty.")
    signers = list(signers_with(address).select_related("request__organization"))
    person = Person(frozenset({address}))
    looks: list[tuple[Sequence[Place[Any, Any]], Any, str]] = [
        *((OF_SIGNER, [signer], f"paraph erase signer {signer.pk}") for signer in signers),
        (UNSENT, person, f"paraph erase address {address}"),
        *((UNSENT, person_of(signer), f"paraph erase signer {signer.pk}") for signer in signers),
        (OF_ACCOUNT, person, ""),
    ]
    every: list[Place[Any, Any]] = [*OF_SIGNER, *UNSENT, *OF_ACCOUNT]
    found: dict[str, dict[object, Kept]] = {place.name: {} for place in every}
    for places, subject, command in looks:
        for place in places:
            for row in place.find(subject):
                kept = Kept(place.name, place.describe(row), command if place.erase else "", place.stays)
                found[place.name].setdefault((type(row), row.pk) if isinstance(row, Model) else str(kept.facts), kept)
    return [kept for of_place in found.values() for kept in of_place.values()]


def signers_with(address: str) -> QuerySet[Signer]:
    """Return the signers that have this address or number, in the order in which they were made."""
    return Signer.objects.filter(Q(email__iexact=address) | Q(phone=address)).order_by("pk")


class Erased(NamedTuple):
    """``journal_entries``: in how many entries of the journal values were replaced by this call."""

    request_id: int
    journal_entries: int


class ErasedAddress(NamedTuple):
    """``organization_ids``: whose data changed. ``signer_ids``: who has the address in a request."""

    organization_ids: list[int]
    signer_ids: list[int]


def erase_signer(actor: Actor, signer_id: int) -> Erased:
    """Replace name, address, number, IP and User-Agent of the signer by pseudonyms, in rows, journal and recorded
    webhooks, delete signature, inquiries, captured messages and what of the request's own data (title, subject and
    message to signers, external id, metadata) names them, erase what the organization keeps of the person in what it
    never sent (:mod:`paraph.flow.personal_data.unsent`), and end the signing link.

    Sealed files and the proof are evidence and stay until retention deletes them. Safe to repeat. Raise
    ``DomainError``: ``not_found``, ``conflict`` while the request is not over.
    """
    request_id = Signer.objects.filter(pk=signer_id).values_list("request_id", flat=True).first()
    if request_id is None:
        raise DomainError("not_found", f"There is no signer {signer_id}.")
    with transaction.atomic():
        request = lock_request(request_id)
        _require_over(request)
        signer = Signer.objects.select_related("request").get(pk=signer_id)
        changed = erase_signers([signer])
        erase_unsent(person_of(signer))
        about = {"request_id": request_id, "signer_id": signer_id}
        note(request.organization_id, actor, Action.SIGNER_ERASED, f"signer {signer_id}", after=about)
    return Erased(request_id, changed["journal"])


def erase_address(actor: Actor, address: str) -> ErasedAddress:
    """Erase what is kept of an address or number outside of requests, in all organizations: in rows of bulk sends and
    drafts that were never sent, the captured inbox, and the confirmed addresses. Signers that have it stay as they are,
    and are returned. Safe to repeat. The activity log says that somebody was erased, but not who: nothing in it can be
    erased."""
    if not address.strip():
        raise DomainError("validation_error", "The address must not be empty.")
    with transaction.atomic():
        organizations = sorted(erase_unsent(Person(frozenset({address.strip()}))))
        for organization_id in organizations:
            note(organization_id, actor, Action.ADDRESS_ERASED)
    signers = signers_with(address.strip())
    return ErasedAddress(organizations, list(signers.values_list("pk", flat=True)))


def _require_over(request: SignatureRequest) -> None:
    if request.status == RequestStatus.PENDING:
        sentence = f"Request {request.pk} is not over: paraph request cancel ends it, then its signers can be erased."
        raise DomainError("conflict", sentence)
    if request.status == RequestStatus.COMPLETED and not request.finalized:
        raise DomainError("conflict", f"The files of request {request.pk} are not sealed yet: try again when they are.")


_AT_ONCE = 100

_log = structlog.get_logger("paraph.retention")


def forget_due_people(seconds: float = RUN_SECONDS) -> int:
    """Forget the people of requests that have lost their files and ended longer ago than the rule of their organization
    and environment says, for at most ``seconds``; return for how many requests. The activity logs are told by
    :func:`paraph.tenants.lifecycle.log_forgotten`. Safe to repeat, to be killed, and to run several times at once, each
    with requests of its own."""
    end, forgotten = time.monotonic() + seconds, 0
    while time.monotonic() < end and (some := _forget_some()):
        forgotten += some
    if forgotten:
        _log.info("people forgotten", requests=forgotten)
    return forgotten


@transaction.atomic
def _forget_some() -> int:
    """Put pseudonyms in the place of all people of some requests, and empty whatever else names them; in the journals
    also what names people who do not sign, such as senders, and earlier addresses."""
    due = SignatureRequest.objects.filter(pk__in=claim_due(PEOPLE, _AT_ONCE))
    requests = {request.pk: request for request in due}
    signers = list(Signer.objects.filter(request__in=requests).order_by("pk"))
    copies = list(CopyRecipient.objects.filter(request__in=requests).order_by("pk"))
    people: list[Signer | CopyRecipient] = [*signers, *copies]
    for person in people:
        person.request = requests[person.request_id]
    _delete_captured(people)
    erase_signers(signers)
    erase_copies(None, copies)
    erase_values(values_in(requests), {})
    due.update(people_forgotten_at=clock.now())
    count_forgotten((request.organization_id, request.environment) for request in requests.values())
    return len(requests)


def _delete_captured(people: Sequence[Signer | CopyRecipient]) -> None:
    """Delete what was captured for these people until the day after their request ended."""
    until = dict[str, datetime]()
    for person in people:
        request = person.request
        ended_at = request.completed_at or request.ended_early_at or request.expires_at
        for address in {person.email, getattr(person, "phone", "")} - {""}:
            until[address.lower()] = max(ended_at + timedelta(days=1), until.get(address.lower(), ended_at))
    captured = CapturedMessage.objects.annotate(address=Upper("to"))  # as the index has it
    found = captured.filter(address__in=[Upper(Value(each)) for each in until]).values_list("pk", "to", "created_at")
    gone = [pk for pk, to, moment in found if moment < until.get(to.lower(), moment)]
    CapturedMessage.objects.filter(pk__in=gone).delete()


def forget_fixed_people() -> int:
    """Forget those who always sign in a role of a template, where the template was not changed for as many days as the
    rule says, and no request names them any more. Whoever sends the template next names somebody else. Return how many
    they were."""
    forgotten = 0
    for rule in Retention.objects.exclude(people_days=None):
        mine = {"organization": rule.organization_id, "environment": rule.environment}
        words = SearchTerm.objects.filter(**mine)
        unchanged_since = clock.now() - timedelta(days=rule.people_days or 0)
        for template in Template.objects.filter(**mine, changed_at__lt=unchanged_since).iterator():
            forgotten += erase_people_of(template, words)
    return forgotten
