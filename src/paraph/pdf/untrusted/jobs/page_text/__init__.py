"""The text of a page: its characters, where they stand, and the order in which they are read."""
