"""Examples to paste of the signer's endpoints. ``SIGNING_URL`` is the ``signing_url`` of a signer, ``CODE`` what they
were sent; document 35 is theirs."""

_JSON = ' \\\n  -H "Content-Type: application/json" \\\n  -d '
_CURL = 'curl -s "$SIGNING_URL{}"'
_FETCH = """const signing = process.env.SIGNING_URL;
const answer = await fetch(`${signing}%s`);
console.log(%s);"""
_POST = """const signing = process.env.SIGNING_URL;
const answer = await fetch(`${signing}%s`, {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(%s),
});
console.log(%s);"""

CURL = {
    "sendCode": _CURL.format("/otp") + _JSON + '\'{"channel": "email"}\'',
    "sign": _CURL.format("/signature") + _JSON + '\'{"code": "\'$CODE\'", "consent": true}\'',
    "drawStamp": _CURL.format("/stamp") + _JSON + '\'{"signature": {"type": "typed", "hand": 2}}\'',
    "drawTypedStamp": _CURL.format("/stamp.svg?hand=2") + " -o stamp.svg",
    "readProgress": _CURL.format("/progress"),
    "downloadUnsigned": _CURL.format("/documents/35.pdf") + " -o unsigned.pdf",
    "readPageText": _CURL.format("/documents/35/pages/1/text"),
    "showPage": _CURL.format("/documents/35/pages/1.webp") + " -o page.webp",
    "enlargePage": _CURL.format("/documents/35/pages/1-200.webp") + " -o page.webp",
    "showPrintedPage": _CURL.format("/documents/35/pages/1-print.webp") + " -o page.webp",
    "downloadCopy": _CURL.format("/documents/35/copy.pdf?ticket=$TICKET") + " -o signed.pdf",
    "downloadProof": _CURL.format("/proof.pdf?ticket=$TICKET") + " -o proof.pdf",
}

NODE = {
    "sendCode": _POST % ("/otp", '{ channel: "email" }', "await answer.json()"),
    "sign": _POST
    % (
        "/signature",
        "{ code: process.env.CODE, consent: true }",
        'await answer.json(), answer.headers.get("X-Copy-Ticket")',
    ),
    "drawStamp": _POST % ("/stamp", '{ signature: { type: "typed", hand: 2 } }', "(await answer.json()).svg"),
    "readProgress": _FETCH % ("/progress", "await answer.json()"),
    "readPageText": _FETCH % ("/documents/35/pages/1/text", "(await answer.json()).lines"),
}

EMBED = """<div id="signing"></div>
<script src="{address}/sign/embed.js"></script>
<script>
  Paraph.embed(document.getElementById("signing"), signingUrl, {{
    onEvent(event) {{
      if (event.type === "paraph:signed") {{
        location.assign("/thanks");
      }}
    }},
  }});
</script>"""
