"""Forgetting people as the rules of organizations say (docs/decisions/retention.md): those of requests that ended so
long ago, many requests at a time, and those who always sign what a template makes, once they are in no request."""

import time
from collections.abc import Sequence
from datetime import datetime, timedelta

import structlog
from django.db import transaction
from django.db.models import Value
from django.db.models.functions import Upper

from paraph.audit_trail.journal import erase_values, values_in
from paraph.flow.due import PEOPLE, RUN_SECONDS, claim_due
from paraph.flow.personal_data.of_signer import erase_signers
from paraph.flow.personal_data.unsent import erase_copies, erase_people_of
from paraph.kernel import clock
from paraph.messaging.models import CapturedMessage
from paraph.request_templates.models import Template
from paraph.signature_requests.models import CopyRecipient, SearchTerm, SignatureRequest, Signer
from paraph.tenants.lifecycle import count_forgotten
from paraph.tenants.models import Retention

_AT_ONCE = 100

_log = structlog.get_logger("paraph.retention")


def forget_due_people(seconds: float = RUN_SECONDS) -> int:
    """Forget the people of requests that ended longer ago than the rule of their organization and environment says and
    have lost their files, for at most so many seconds; return of how many requests. The activity logs are told by
    :func:`paraph.tenants.lifecycle.tell_forgotten`.

    Safe to repeat, to be killed, and to run several times at once, each with requests of its own.
    """
    end, forgotten = time.monotonic() + seconds, 0
    while time.monotonic() < end and (some := _forget_some()):
        forgotten += some
    if forgotten:
        _log.info("people forgotten", requests=forgotten)
    return forgotten


@transaction.atomic
def _forget_some() -> int:
    """Put pseudonyms in the place of all people of some requests, and empty what else names them, in the journals also
    what is about nobody who signs: senders, earlier addresses."""
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
