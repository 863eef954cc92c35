"""Counts and seconds of this service's processes, summed over all of them when they are asked for."""
