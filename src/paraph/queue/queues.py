"""The queues of jobs. Every worker serves each with threads of its own, so that a mail server that hangs holds
up mails, and no seal (docs/decisions/queues.md)."""

DEFAULT = "default"
MAIL = "mail"
QUEUES = (DEFAULT, MAIL)
