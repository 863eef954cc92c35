"""Sign for a signer of the sandbox, so that a test can go on."""

from typing import Any

from paraph.audit_trail.append import Origin
from paraph.flow.signing.sign import Signature, sign
from paraph.signature_requests.fields.entry import FilledField
from paraph.signature_requests.models import Signer


def sandbox_sign(
    signer: Signer, mark: dict[str, Any] | None, origin: Origin, fields: tuple[FilledField, ...] = ()
) -> None:
    """Sign as the signer's page does, without a code: none is sent, and nobody has to receive one. The consent notice
    is accepted in the request's language, and initials, where the request wants them, are those of the name.

    ``mark`` is a signature, None for an approver, and ``fields`` are all of the signer, as :class:`Signature` has them.
    Raises what :func:`sign` raises before it looks at a code.
    """
    request = signer.request
    initials = {"type": "typed"} if request.initials_required and mark else None
    sign(signer, Signature(None, mark, initials, request.locale, fields), origin)
