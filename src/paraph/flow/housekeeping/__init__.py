"""VERBS that nobody asks for: removing what is unused or outdated."""
