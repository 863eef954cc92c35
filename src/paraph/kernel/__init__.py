"""What every other package uses: the clock, secrets, errors, settings, the machine. No Django."""
