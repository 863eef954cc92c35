"""The container of an evidence bundle: ASiC-E (ETSI EN 319 162-1) in one form, written and read."""
