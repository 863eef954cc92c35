"""What members do with deliveries: send one again, send a test."""

from django.db import transaction
from django.utils.translation import gettext as _

from paraph.kernel.errors import DomainError
from paraph.tenants.admin_log import Action, Actor, note
from paraph.tenants.models import Application
from paraph.tenants.organizations import locked_organization
from paraph.webhooks.models import Delivery
from paraph.webhooks.replay import record_test, replay_delivery


@transaction.atomic
def send_again(actor: Actor, application: Application, delivery_id: int) -> None:
    """Start the retries of a delivery anew, for a member. Raise ``DomainError``: ``not_found``, ``conflict`` where it
    cannot be sent, or is being sent."""
    locked_organization(application.organization_id)
    if not replay_delivery(delivery_id, application):
        raise DomainError("conflict", _("It is being sent right now."))
    _note(actor, Action.DELIVERY_SENT_AGAIN, application, delivery_id)


@transaction.atomic
def send_test(actor: Actor, application: Application) -> Delivery:
    """Record a test for the application's webhook URL. Raise ``DomainError("conflict", …)``."""
    locked_organization(application.organization_id)
    delivery = record_test(application)
    _note(actor, Action.WEBHOOK_TESTED, application, delivery.pk)
    return delivery


def _note(actor: Actor, action: Action, application: Application, delivery_id: int) -> None:
    about = {"application_id": application.pk, "delivery_id": delivery_id}
    note(application.organization_id, actor, action, application.name, after=about)
