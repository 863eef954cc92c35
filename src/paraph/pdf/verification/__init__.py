"""Verification of sealed files and of the evidence in proof files, without the service."""
