"""The queues of jobs. Every worker serves each with threads of its own, so that a mail server that hangs holds
up mails, and no seal (docs/decisions/queues.md)."""

DEFAULT = "default"
MAIL = "mail"
QUEUES = (DEFAULT, MAIL)
RANKS = 1_000
"""A job's priority is ``-(deaths * RANKS + rank)``: of jobs that wait, those of the lowest rank are begun first, and
after all of them those at which workers died."""
