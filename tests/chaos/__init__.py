"""Requests in flight while everything around them is killed or fails; `make chaos` is the long run."""
