"""One-time codes: six digits, ten minutes, the newest only, five attempts (specification 8)."""
