"""What of a page shows on the screen and in print, and how PDFium is made to draw it so."""
