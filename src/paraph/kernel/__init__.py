"""What every other room uses: the clock, secrets, errors, settings, the machine. No Django."""
