"""Checks that every part that the service depends on really works. One file per part; outcomes are sentences."""
