"""Pages of uploaded documents."""
