"""Requests to addresses that clients or certificates name: checked, pinned to the resolved addresses, bounded."""
