"""Reading untrusted PDFs in sandboxed processes."""
