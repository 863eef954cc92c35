"""QR codes as SVG."""

import segno


def qr_code(address: str) -> str:
    """A QR code of ``address`` as SVG without a margin; "" for no address or one that is too long."""
    if not address:
        return ""
    try:
        rows = segno.make(address, error="m", micro=False).matrix
    except segno.DataOverflowError:
        return ""
    squares = "".join(f"M{x} {y}h1v1h-1z" for y, row in enumerate(rows) for x, dark in enumerate(row) if dark)
    size = len(rows)
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {size}"><path d="{squares}"/></svg>'
