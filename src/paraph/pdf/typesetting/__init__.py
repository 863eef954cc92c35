"""Stamps, initials, the watermark and the proof file, typeset by Typst."""
