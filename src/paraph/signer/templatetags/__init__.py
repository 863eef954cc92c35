"""Template tags of the signer pages."""
