"""What of a page other readers may show than PDFium does, which draws what signers see."""
