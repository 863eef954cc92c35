"""What everything stands on: the clock, tokens and secrets, errors, the environment. No Django."""
