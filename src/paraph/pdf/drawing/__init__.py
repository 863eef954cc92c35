"""Drawing over the pages of a file within a revision, so that nothing else of the pages changes."""
