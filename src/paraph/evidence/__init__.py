"""What a completed request leaves: sealed documents and the proof file."""
