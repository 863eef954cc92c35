"""Stamps, initials, the watermark and the proof file, typeset by Typst."""

EVIDENCE = "evidence.json"
"""The attachment of a proof that programs read. It stands here since verifying proofs must not load a typesetter."""
