"""``/docs``: the reference of the API, made from the OpenAPI document, and guides. It needs no key, loads nothing from
other sites and runs no script."""
