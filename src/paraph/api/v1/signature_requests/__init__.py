"""Signature requests: what is answered of them."""
