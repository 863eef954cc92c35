"""What a certificate states of itself under the eIDAS Regulation: its qualified certificate statements (ETSI EN 319
412-5). They are its issuer's word, which the trusted lists of the member states make good or not."""

from functools import lru_cache

from paraph.pdf.pki import der
from paraph.pdf.pki.certificate import load

_EXTENSION, _TYPE = "1.3.6.1.5.5.7.1.3", "0.4.0.1862.1.6"  # qcStatements (RFC 3739 §3.2.6)
_NAMES = {
    "0.4.0.1862.1.1": "QcCompliance",  # it is a qualified certificate
    "0.4.0.1862.1.4": "QcSSCD",  # its private key is in a qualified device
    "0.4.0.1862.1.7": "QcCClegislation",  # all of that by the law of another country
    f"{_TYPE}.1": "QcType esign",
    f"{_TYPE}.2": "QcType eseal",
    f"{_TYPE}.3": "QcType web",
}
_OF_QUALIFIED_SEALS = {"QcCompliance", "QcSSCD", "QcType eseal"}


@lru_cache(maxsize=64)
def statements(certificate: bytes) -> tuple[str, ...]:
    """Return the names of what a certificate (DER) states about its being qualified, a type that is not known by its
    number. It states nothing where its statements cannot be read."""
    try:
        values = [each.value for each in load(certificate).parsed.extensions if each.oid.dotted_string == _EXTENSION]
        parts = [each.children() for value in values for each in der.read(value.public_bytes()).children()]
        made = [identifier.oid() for identifier, *_ in parts]
        kinds = [kind.oid() for identifier, *of in parts if identifier.oid() == _TYPE for kind in of[0].children()]
    except (ValueError, IndexError):
        return ()
    return tuple(_NAMES.get(each, f"QcType {each}") for each in [*made, *kinds] if each in _NAMES or each in kinds)


def makes_qualified_seals(certificate: bytes) -> bool:
    """Return whether seals by a certificate (DER) are qualified electronic seals in its own words (Article 3(27) of the
    Regulation): it is a qualified one for seals and nothing else, its key in a qualified device."""
    return set(statements(certificate)) == _OF_QUALIFIED_SEALS
