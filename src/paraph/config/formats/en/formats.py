"""Dates name the month, so that no reader takes the day for the month."""

DATE_FORMAT = "j F Y"
DATETIME_FORMAT = "j F Y, H:i"
