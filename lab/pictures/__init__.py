"""Pictures of everything that people see, to be looked at."""
