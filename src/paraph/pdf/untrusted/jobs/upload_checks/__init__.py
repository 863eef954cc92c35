"""The checks of an upload, and the file that is shown and sealed in its place where it needs repair."""
