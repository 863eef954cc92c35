"""What a request waits for, in sentences for its sender. That of operators is :mod:`paraph.operations.explain`."""

from django.utils.translation import gettext as _

from paraph.evidence.failures import public_cause
from paraph.evidence.models import SealingFailure
from paraph.flow.messages import put_off_mails
from paraph.kernel import clock
from paraph.signature_requests.models import Mode, RequestStatus, SignatureRequest, Signer, SignerStatus


def waiting(request: SignatureRequest, signers: list[Signer]) -> list[str]:
    """Nothing for a request that is over and whose files are there."""
    if request.status == RequestStatus.PENDING:
        return [_for_people(request, signers), *_for_mails(request, _turn(request, signers))]
    if request.status == RequestStatus.COMPLETED and not request.finalized:
        return [_for_seals(request)]
    if request.files_deleted_at:
        return [_("Its files were deleted on %(day)s.") % {"day": f"{request.files_deleted_at:%Y-%m-%d}"}]
    return []


def _for_people(request: SignatureRequest, signers: list[Signer]) -> str:
    names = ", ".join(signer.full_name for signer in _turn(request, signers))
    if clock.now() >= request.expires_at:
        return _("The time to sign is over.")
    return _("Waits for the signature of: %(names)s.") % {"names": names}


def _turn(request: SignatureRequest, signers: list[Signer]) -> list[Signer]:
    """Who may sign now."""
    unsigned = [signer for signer in signers if signer.status != SignerStatus.SIGNED]
    return unsigned[:1] if request.mode == Mode.SEQUENTIAL else unsigned


def _for_mails(request: SignatureRequest, signers: list[Signer]) -> list[str]:
    if not request.send_email:
        return []
    late = [signer for signer in signers if signer.notified_at is None]
    put_off = put_off_mails.noted(f"invitation-{signer.pk}" for signer in late)
    return [
        _("The invitation of %(name)s is put off by the limits on messages, until %(day)s UTC.")
        % {"name": signer.full_name, "day": f"{noted.until:%Y-%m-%d %H:%M}"}
        if (noted := put_off.get(f"invitation-{signer.pk}"))
        else _("The mail server has not taken the invitation of %(name)s yet; it is tried again by itself.")
        % {"name": signer.full_name}
        for signer in late
    ]


def _for_seals(request: SignatureRequest) -> str:
    failure = SealingFailure.objects.filter(request=request).first()
    if failure is None:
        return _("Its documents are being sealed.")
    return _("Its documents are not sealed yet: %(cause)s") % {"cause": public_cause(failure)}
