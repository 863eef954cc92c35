"""Telling an endpoint that only the service reaches, such as ``http://minio:9000``."""

import os
from ipaddress import ip_address
from urllib.parse import urlsplit

_VARIABLES = {
    "s3": ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"),
    "az": ("AZURE_STORAGE_ENDPOINT", "AZURE_ENDPOINT"),
}
_INTERNAL_DOMAINS = (".local", ".internal", ".svc", ".lan", ".localdomain", ".home.arpa")


def internal_endpoint(url: str) -> bool:
    """Return whether the endpoint that the environment names for the bucket at ``url`` is private by its very name: a
    private address, a name without a dot, or one in a domain that the Internet does not have."""
    variables = _VARIABLES.get(urlsplit(url).scheme, ())
    named = next((os.environ[name] for name in variables if os.environ.get(name)), "")
    host = urlsplit(named).hostname or ""
    if not host:
        return False
    try:
        return not ip_address(host).is_global
    except ValueError:
        return "." not in host or host.endswith(_INTERNAL_DOMAINS)
