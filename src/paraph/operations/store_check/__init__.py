"""Rows against objects, both ways: what rows name is there and unchanged, and nothing else is there."""
