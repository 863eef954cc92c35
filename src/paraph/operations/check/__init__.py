"""Checks that every part which the service depends on really works. One file per part; outcomes are sentences."""
