"""What runs inside a confined process and tries to leave it. No import beyond the standard library and confinement."""
