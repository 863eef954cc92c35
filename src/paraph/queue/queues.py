"""The lanes of the job queue. Every worker serves each with threads of its own, so that a mail server that hangs holds
up mails, and no seal (docs/decisions/lanes.md)."""

DEFAULT = "default"
MAIL = "mail"
LANES = (DEFAULT, MAIL)
