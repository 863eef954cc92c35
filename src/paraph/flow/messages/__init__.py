"""The messages of the journey: their texts, their limits, and that each leaves once."""
