"""One-time codes: six digits, ten minutes, the newest only, five attempts (rule 8)."""
