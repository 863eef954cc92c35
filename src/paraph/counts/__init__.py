"""Counts of what may happen only a limited number of times, each for a scope and a window of time."""
