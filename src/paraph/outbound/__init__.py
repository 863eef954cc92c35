"""Requests to addresses that clients name: guarded, pinned to one resolved address, bounded in time and size."""
