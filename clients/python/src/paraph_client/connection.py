"""What connections of both clients have in common."""

from typing import Any

VERSION = "0.1.0"
TIMEOUT_SECONDS = 30.0
RETRY_SECONDS = 60.0


def of_service(address: str, api_key: str, language: str) -> dict[str, Any]:
    """The arguments of an httpx client for the service at this address."""
    return {
        "base_url": f"{address.rstrip('/')}/api/v1/",
        "headers": {
            "X-Api-Key": api_key,
            "Accept-Language": language,
            "User-Agent": f"paraph-client/{VERSION}",
        },
    }
