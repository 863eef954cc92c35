"""Django's way to PostgreSQL, with a check of kept connections that costs no round trip."""
