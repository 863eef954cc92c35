"""Signature requests with their signers and placements, and the plan that a creation payload becomes."""
