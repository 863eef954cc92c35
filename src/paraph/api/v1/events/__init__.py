"""What happened to the requests of an environment, for those who ask."""
