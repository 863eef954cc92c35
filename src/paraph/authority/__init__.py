"""The built-in timestamp authority over HTTP, and what its root says of its certificates. Off unless turned on."""
