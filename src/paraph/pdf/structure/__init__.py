"""The structure of PDF files: reading objects where they stand, and writing revisions after them."""
