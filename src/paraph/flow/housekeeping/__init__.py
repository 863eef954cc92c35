"""VERBS that nobody asks for: what is unused or outdated goes, senders are warned."""
