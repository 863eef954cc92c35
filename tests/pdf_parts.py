"""The parts of a sealed PDF that other programs want one by one."""

import re

from asn1crypto import cms


def signature_and_token(pdf: bytes) -> tuple[bytes, bytes]:
    """Return the signature value of the last seal, and the RFC 3161 token over it in DER."""
    contents = re.findall(rb"(?s)/ETSI.CAdES.detached.*?/Contents\s*<([0-9A-Fa-f]+)>", pdf)[-1]
    information = cms.ContentInfo.load(bytes.fromhex(contents.decode()))
    signer = information["content"]["signer_infos"][0]
    token = next(attribute for attribute in signer["unsigned_attrs"] if attribute["type"].dotted.endswith(".9.16.2.14"))
    return signer["signature"].native, token["values"][0].dump()
