"""RFC 3161 timestamps: asked for, made, read and kept."""
