"""Tests of what fuzzing found, and of files altered after they were sealed."""
