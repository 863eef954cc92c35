"""How second factors are kept: their secrets encrypted, the QR code as part of the page."""

from base64 import b64decode, b64encode
from typing import cast

from allauth.mfa.adapter import DefaultMFAAdapter
from django.conf import settings

from paraph.kernel import tokens


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """allauth's ``MFA_ADAPTER``."""

    def encrypt(self, text: str) -> str:
        return b64encode(tokens.encrypt(_key(), text.encode())).decode()

    def decrypt(self, encrypted_text: str) -> str:
        return tokens.decrypt(_key(), b64decode(encrypted_text)).decode()

    def build_totp_svg(self, url: str) -> str:
        """Returns the ``svg`` element alone, which can stand in a page: images by ``data:`` are not loaded."""
        document = cast(str, super().build_totp_svg(url))
        return document[document.index("<svg") :]


def _key() -> bytes:
    return tokens.derive(settings.MASTER_KEY, "second factors")
