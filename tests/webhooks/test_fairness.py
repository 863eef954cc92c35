"""Slots are dealt so that a dead endpoint delays nobody."""

from paraph.webhooks.claim import AT_ONCE, AT_ONCE_IN_TROUBLE, EndpointLoad, shares


def test_who_has_the_fewest_is_next() -> None:
    loads = [EndpointLoad("busy", 100, 3, False), EndpointLoad("idle", 100, 0, False)]
    assert shares(loads, 5, 5) == {"idle": 4, "busy": 1}


def test_no_more_than_is_due_or_allowed_at_once() -> None:
    loads = [
        EndpointLoad("small", 2, 0, False),
        EndpointLoad("large", 1000, 4, False),
        EndpointLoad("sick", 1000, 1, True),
    ]
    assert shares(loads, 1000, 1000) == {"small": 2, "large": AT_ONCE - 4, "sick": AT_ONCE_IN_TROUBLE - 1}


def test_endpoints_in_trouble_never_get_the_slots_of_the_healthy() -> None:
    sick = [EndpointLoad(f"sick-{number}", 1000, 0, True) for number in range(1000)]
    given = shares([*sick, EndpointLoad("healthy", 5, 0, False)], 400, 200)
    assert given["healthy"] == 5
    assert sum(given.values()) == 205
    assert shares([*sick, EndpointLoad("healthy", 5, 0, False)], 200, 0) == {"healthy": 5}


def test_every_endpoint_in_trouble_gets_a_turn() -> None:
    given = shares([EndpointLoad(f"sick-{number}", 1000, 0, True) for number in range(10)], 400, 20)
    assert set(given.values()) == {2}


def test_an_application_with_many_endpoints_has_no_more_than_one_with_one() -> None:
    hostile = [EndpointLoad(f"7 https://{number}.example", 5, 0, False) for number in range(1000)]
    given = shares([*hostile, EndpointLoad("8 https://other.example", 5, 0, False)], 8, 8)
    assert given["8 https://other.example"] == 4 and sum(given.values()) == 8
