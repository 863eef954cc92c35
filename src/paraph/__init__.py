"""Paraph: a self-hosted electronic-signature service."""

__version__ = "0.1.0"
