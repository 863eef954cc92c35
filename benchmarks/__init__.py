"""One command per figure; each prints a table. ``make bench`` runs the two that the README quotes."""
