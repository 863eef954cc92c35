"""VERBS that end requests before they are signed, and delete files, documents and templates."""
