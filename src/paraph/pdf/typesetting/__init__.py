"""Stamps, initials, the watermark and the proof file, typeset by Typst."""

EVIDENCE = "evidence.json"
"""The attachment of a proof that programs read. Here, as those who verify proofs set none and load no typesetter."""
