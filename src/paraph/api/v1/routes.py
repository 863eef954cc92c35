"""The routes of API v1."""

from ninja import NinjaAPI

from paraph import __version__
from paraph.api.v1 import audit_logs, branding_profiles, documents, health, signature_requests

# The door authenticates, documents and translates errors: nothing of the kind is left to the framework.
api = NinjaAPI(title="Paraph", version=__version__, openapi_url=None, docs_url=None, urls_namespace="api-v1")
api.add_router("/documents", documents.router)
api.add_router("/signature_requests", signature_requests.router)
api.add_router("/signature_requests", audit_logs.router)
api.add_router("/branding_profiles", branding_profiles.router)
api.add_router("/health", health.router)
