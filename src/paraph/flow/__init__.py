"""VERBS: what the service does with a document, from its upload to the deletion of its files."""
