"""``/docs``: the API's reference, written from the OpenAPI document, and guides. Wants no key, loads nothing from
elsewhere, runs no script."""
