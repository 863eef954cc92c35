"""Requests to addresses that clients or certificates name: guarded, pinned to what was resolved, bounded."""
