"""The structure of PDF files: objects read where they stand, and revisions written after them."""
