"""The formats of dates that differ from Django's."""
