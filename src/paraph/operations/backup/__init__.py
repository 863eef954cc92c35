"""Copies of the service: written while it runs, checked whole before anything of them is restored."""
