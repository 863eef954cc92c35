"""Uploaded PDFs."""
