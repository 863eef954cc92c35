"""Untrusted PDFs, read in sandboxed processes."""
