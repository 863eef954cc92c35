"""PAdES seals, made and checked."""
