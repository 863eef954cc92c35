"""Rotation of the secret while the service works: what it encrypted is encrypted anew, row by row."""
