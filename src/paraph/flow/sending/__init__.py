"""VERBS from an upload to the invitation of its signers."""
