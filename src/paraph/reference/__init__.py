"""``/docs``: the reference of the API and of the signer's endpoints, and guides. It needs no key, loads nothing from
other sites, and is whole without scripts; the scripts search it, copy samples and try calls with a sandbox key."""
