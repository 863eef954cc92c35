"""The built-in timestamp authority over HTTP, with its root and its revocation data. Off unless turned on."""
