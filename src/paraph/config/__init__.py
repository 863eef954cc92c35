"""Settings and the whole URL map."""
