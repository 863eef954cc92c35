"""Pages of drafts: the four steps from documents to a sent request."""
