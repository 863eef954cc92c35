"""Words for messages that were kept, because nothing sends them or the sandbox does not write to that address."""

from django.utils.translation import gettext as _

from paraph.tenants.models import Environment

_CAPTURED = "captured:"


def kept_note(acknowledgement: str, environment: str, channel: str = "email", *, kept: bool = False) -> str:
    """Return where a message is that nobody took, by its acknowledgement or by ``kept``, "" for one that a gateway
    acknowledged."""
    if not kept and not acknowledgement.startswith(_CAPTURED):
        return ""
    if environment == Environment.SANDBOX:
        return _("Kept in the sandbox inbox.")
    return (
        _("Kept by the service; no SMS gateway is configured.")
        if channel == "sms"
        else _("Kept by the service; no mail server is configured.")
    )
