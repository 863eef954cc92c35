"""How dates are written, where Django does it otherwise."""
