"""Upgrades from every version that was published: a small world of each is kept here, in `worlds`."""
