"""Fuzzing: what reads bytes from outside, fed with bytes that coverage leads to."""
