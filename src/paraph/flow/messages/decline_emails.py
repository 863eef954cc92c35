"""The mails that say that a signer has declined. What the signer wrote and every name is unlinked."""

from paraph import words as catalog
from paraph.flow.messages.emails import to_signer as mail_to_signer
from paraph.flow.messages.inquiry_email import about, who
from paraph.flow.messages.names import sender_name, signer_name
from paraph.flow.messages.written import written
from paraph.messaging.letters import EmailContent, Letter, lay_out, say
from paraph.signature_requests.models import Signer
from paraph.tenants.branding import accent


def to_contact(decliner: Signer) -> EmailContent:
    """Write who has declined, about which documents, and why, in the language of the request."""
    request, name = decliner.request, signer_name(decliner)
    words, reason = catalog.of("mail", request.locale), written(request.ended_reason)
    return lay_out(
        Letter(
            locale=words["locale"],
            subject=catalog.phrase(words, "declined_by", name=name),
            preview=reason.text,
            sender=sender_name(decliner),
            lines=[
                who(name, decliner.email, catalog.phrase(words, "declined_by", name=name)),
                reason,
                say(words, "declined_end"),
            ],
            closing=[about(decliner, words)],
            accent=accent(request.branding_profile),
        )
    )


def to_signer(signer: Signer) -> EmailContent:
    """Write that the request has ended, and not who declined: who else signs is not the signer's to know."""
    words, sender = catalog.of("mail", signer.locale or signer.request.locale), sender_name(signer)
    return mail_to_signer(
        signer,
        subject=catalog.phrase(words, "declined_subject", sender=sender),
        preview=words["declined_end"],
        lines=[say(words, "declined", sender=sender), say(words, "declined_end")],
        closing=[],
    )
