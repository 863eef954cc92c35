"""What runs only inside a sandboxed process (``paraph.pdf.sandbox``): the code that parses untrusted files."""
