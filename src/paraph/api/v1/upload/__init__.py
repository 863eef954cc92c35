"""Reading the file of an upload."""
