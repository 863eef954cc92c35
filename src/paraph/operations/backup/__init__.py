"""Backups of the service: written while it runs, and checked completely before anything is restored."""
