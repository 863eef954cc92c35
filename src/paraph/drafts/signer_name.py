"""What the signer of a draft is called while it is prepared."""

from django.utils.translation import gettext as _

from paraph.drafts.models import DraftSigner
from paraph.signature_requests.localized import full_name


def signer_name(signer: DraftSigner, locale: str) -> str:
    """Return the name in the order of the language; which signer it is where no name is known yet."""
    name = full_name(signer.first_name, signer.last_name, locale).strip()
    return name or _("Signer %(number)d") % {"number": signer.position + 1}
