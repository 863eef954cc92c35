"""How PDFium is made to draw a page as it shows on the screen or in print."""
