"""The names of everything that can happen to a request (specification 6.2): journal, webhooks and API share them."""

from enum import StrEnum


class EventType(StrEnum):
    """In the order in which a request meets them."""

    CREATED = "signature_request.created"
    IDENTITY_DECLARED = "signature_request.identity_declared"
    SIGNER_NOTIFIED = "signer.notified"
    OTP_SENT = "signer.otp_sent"
    SIGNED = "signer.signed"
    COMPLETED = "request.completed"
    COMPLETION_NOTIFIED = "request.completion_notified"
    EXPIRED = "request.expired"
    PADES_SIGNED = "signature_request.pades_signed"
    CERTIFICATE_ISSUED = "signature_request.certificate_issued"
