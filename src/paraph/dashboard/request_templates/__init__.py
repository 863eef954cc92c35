"""Pages of templates and of bulk sends."""
