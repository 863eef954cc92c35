"""How second factors are kept: their secrets encrypted, the QR code as part of the page."""

from typing import cast

from allauth.mfa.adapter import DefaultMFAAdapter

from paraph.tenants import accounts


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """allauth's ``MFA_ADAPTER``."""

    def encrypt(self, text: str) -> str:
        return accounts.encrypt_factor(text)

    def decrypt(self, encrypted_text: str) -> str:
        return accounts.decrypt_factor(encrypted_text)

    def build_totp_svg(self, url: str) -> str:
        """Return the ``svg`` element alone, which can stand in a page: images by ``data:`` are not loaded."""
        document = cast(str, super().build_totp_svg(url))
        return document[document.index("<svg") :]
