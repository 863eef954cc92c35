"""Documents: uploads and what is told of them."""
