"""Certificates, their revocation data, and the CMS messages in which they sign."""
