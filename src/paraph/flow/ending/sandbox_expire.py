"""End the time of a sandbox request at once, so that a test need not wait for it."""

from django.db import transaction
from django.utils.translation import gettext as _

from paraph.flow.ending.expire import expire
from paraph.flow.lock import lock_request
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.signature_requests.signing_eligibility import is_over


@transaction.atomic
def sandbox_expire(request_id: int) -> None:
    """Move ``expires_at`` to this second and expire the request.

    Raises ``DomainError("conflict", …)`` where it is over already, whether or not a worker has marked it. The caller
    checks whose it is, and that it is of the sandbox.
    """
    request = lock_request(request_id)
    now = clock.now()
    if is_over(request, now):
        raise DomainError("conflict", _("The request is over."))
    request.expires_at = now.replace(microsecond=0)
    request.save(update_fields=["expires_at"])
    expire(request_id, sandbox_act=True)
