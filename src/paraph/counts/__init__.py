"""Counts of what may happen only so often, each of a scope in a window of time."""
