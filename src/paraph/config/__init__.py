"""Settings, the whole URL map and the WSGI entry point."""
