"""The month by its name, so that no reader takes the day for it."""

DATE_FORMAT = "j F Y"
DATETIME_FORMAT = "j F Y, H:i"
