"""What a signing page shows of the newest code: where and when it was sent, and when the next may be."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from paraph.database.compiled_query import CompiledQuery
from paraph.flow.signing.send_otp import masked
from paraph.kernel import clock
from paraph.otp.models import OneTimeCode
from paraph.signature_requests.models import Signer

_NEWEST = CompiledQuery(OneTimeCode.objects.all)
_PAUSE = timedelta(seconds=30)  # before the page offers another: a mail takes a while


@dataclass(frozen=True)
class CurrentCode:
    """``wait``: seconds until the page offers to send another."""

    channel: str
    recipient: str
    sent_at: datetime
    wait: int


def sent_code(signer: Signer) -> CurrentCode | None:
    """The newest code, while it can be used; None where none was sent or its time is over."""
    now = clock.now()
    code = _NEWEST.first(signer.pk)
    if code is None or code.sent_at is None or code.used_at or code.expires_at <= now:
        return None
    wait = max(0, round((code.sent_at + _PAUSE - now).total_seconds()))
    return CurrentCode(code.channel, masked(code.destination), code.sent_at, min(wait, int(_PAUSE.total_seconds())))
