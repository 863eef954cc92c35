"""How the proof calls the events of the journal. The typesetting room knows no event of its own."""

EVENT_TITLES = {
    "signature_request.created": "Request created",
    "signature_request.identity_declared": "Identity of the signers declared by the sender",
    "signer.notified": "Invitation sent",
    "signer.otp_sent": "One-time code sent",
    "signer.signed": "Signed",
    "request.completed": "Request completed: everyone has signed",
    "request.completion_notified": "Summary of completion sent",
    "request.expired": "Request expired",
    "signature_request.pades_signed": "PAdES seal applied to a document",
    "signature_request.certificate_issued": "Proof file issued and sealed",
}
"""Titles in English, the one language of the proof so far, by the event's name."""

SENDER_EVENTS = frozenset({"signature_request.created", "signature_request.identity_declared"})
"""Events that the proof attributes to the organization; others without a signer are the service's."""
