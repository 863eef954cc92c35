"""VERBS that show and erase what is kept of a person."""
