"""Metrics: counters and histograms that each process keeps, summed over all processes when they are read."""
