"""What a start does before anything is served."""

from django.conf import settings

from paraph.cli.migrate import migrate
from paraph.kernel import tokens
from paraph.kernel.errors import DomainError
from paraph.organizations.models import Organization
from paraph.organizations.registration import create_application, create_organization
from paraph.storage import store


def prepare() -> str:
    """Tables, storage, keys; at the very first start an organization with a sandbox application, whose API key is
    returned ("" later). Raises ``DomainError`` with one sentence for what is missing."""
    migrate()
    store.sweep()
    _try_storage()
    if Organization.objects.exists():
        return ""
    organization = create_organization("First organization", "enterprise")
    return create_application(organization.pk, "sandbox", "First application").api_key


def _try_storage() -> None:
    """Writes, reads and deletes an object: a full disk or a wrong bucket shows now, not at the first upload."""
    key, content = f"check/{tokens.random_hex(8)}", tokens.random_bytes(32)
    place = settings.PARAPH.storage_url or settings.DATA_DIR / "objects"
    try:
        store.put(key, content)
        found = store.get(key)
        store.delete(key)
    except Exception as error:
        raise DomainError(
            "storage", f"The object store {place} does not work: {str(error).splitlines()[0]}."
        ) from error
    if found != content:
        raise DomainError("storage", f"The object store {place} gives back something else than it was given.")
