"""RFC 3161 timestamps: requests, authorities, tokens, and timestamps kept beside files."""
