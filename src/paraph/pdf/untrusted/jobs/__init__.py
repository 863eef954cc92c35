"""What runs only inside a sandboxed process (``paraph.pdf.untrusted.sandbox``): the code that parses untrusted
files."""
