"""Signature requests: the request, its signers, its placements, and the plan that a payload becomes."""
