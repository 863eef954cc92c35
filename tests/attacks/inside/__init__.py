"""What runs inside a confined process and tries to leave it. It imports only the standard library and confinement."""
