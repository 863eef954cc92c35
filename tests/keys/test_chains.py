"""Building a chain is bounded, whatever certificates come along; what chains hold is in test_odd_chains."""

import time

import pytest
from cryptography import x509

from paraph.kernel import clock
from paraph.keys.chains import NoChain, find_chain
from tests.keys.odd_chains import below_root, issued, key, leaf, middle, name, root


def _copies(count: int, signed_by: str) -> list[x509.Certificate]:
    public = key("root").public_key()
    return [issued(name("Root"), public, name("Root"), key(signed_by), ca=True) for _ in range(count)]


def test_certificates_that_all_issued_each_other_are_looked_at_once() -> None:
    own, crowd = below_root(), _copies(150, "root")
    began = time.process_time()
    with pytest.raises(NoChain):
        find_chain(own, crowd, [root(of=key("another root"))], clock.now())
    assert time.process_time() - began < 5
    assert find_chain(own, crowd, [crowd[-1]], clock.now()) == (own, crowd[-1])


def test_more_possible_issuers_than_anybody_has_are_not_tried() -> None:
    wrong = [issued(name("Root"), key("other").public_key(), name("Root"), key("root"), ca=True) for _ in range(250)]
    with pytest.raises(NoChain, match="has too many possible issuers"):
        find_chain(below_root(), wrong, [root(of=key("another root"))], clock.now())


def test_the_shortest_of_several_chains_is_taken() -> None:
    crossed = issued(name("Root"), key("root").public_key(), name("Older Root"), key("older"), ca=True)
    own, between, top, older = leaf(), middle(), root(), root("Older Root", key("older"))
    for others in ([crossed, between], [between, crossed]):
        assert find_chain(own, others, [older, top], clock.now()) == (own, between, top)
        assert find_chain(own, others, [older], clock.now()) == (own, between, crossed, older)
