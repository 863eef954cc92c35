"""Programs that check a delivery, to paste: each reads the body from ``body.json``, and the secret and the header
``X-Service-Signature`` from the environment; it prints ``genuine``, or ``forged`` and ends with status 1."""

from typing import NamedTuple


class Verifier(NamedTuple):
    name: str
    language: str
    program: str


_CURL = """\
# WEBHOOK_SECRET, SIGNATURE; RECEIVER (optional): where to send the delivery to, to try your own code
expected="sha256=$(openssl dgst -sha256 -hmac "$WEBHOOK_SECRET" -r body.json | cut -d ' ' -f 1)"
if [ "$expected" = "$SIGNATURE" ]; then echo genuine; else echo forged; exit 1; fi
if [ -n "$RECEIVER" ]; then
  curl --fail --data-binary @body.json -H "Content-Type: application/json" \\
    -H "X-Service-Signature: $SIGNATURE" "$RECEIVER"
fi
"""
_PYTHON = """\
import hashlib, hmac, os, sys

body = open("body.json", "rb").read()
digest = hmac.new(os.environ["WEBHOOK_SECRET"].encode(), body, hashlib.sha256).hexdigest()
genuine = hmac.compare_digest(f"sha256={digest}", os.environ["SIGNATURE"])
print("genuine" if genuine else "forged")
sys.exit(not genuine)
"""
_NODE = """\
const crypto = require("node:crypto");
const fs = require("node:fs");

const body = fs.readFileSync("body.json");
const digest = crypto.createHmac("sha256", process.env.WEBHOOK_SECRET).update(body).digest("hex");
const expected = Buffer.from("sha256=" + digest), given = Buffer.from(process.env.SIGNATURE);
const genuine = expected.length === given.length && crypto.timingSafeEqual(expected, given);
console.log(genuine ? "genuine" : "forged");
process.exit(genuine ? 0 : 1);
"""
_PHP = """\
<?php
$body = file_get_contents("body.json");
$expected = "sha256=" . hash_hmac("sha256", $body, getenv("WEBHOOK_SECRET"));
$genuine = hash_equals($expected, getenv("SIGNATURE"));
echo $genuine ? "genuine\\n" : "forged\\n";
exit($genuine ? 0 : 1);
"""
VERIFIERS = [
    Verifier("curl and openssl", "sh", _CURL),
    Verifier("Python", "python", _PYTHON),
    Verifier("Node", "javascript", _NODE),
    Verifier("PHP", "php", _PHP),
]
