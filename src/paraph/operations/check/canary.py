"""A minimal PDF of one empty page, for checks to seal."""


def _canary() -> bytes:
    objects = (
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Count 1/Kids[3 0 R]>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Resources<<>>>>",
    )
    content, offsets = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(content))
        content += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    entries = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    table = b"xref\n0 4\n0000000000 65535 f \n%b" % entries
    return content + table + b"trailer\n<</Size 4/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % len(content)


CANARY = _canary()
