"""What was appended to a file after a trusted seal: read strictly, and refused unless an allow-list names it."""
