"""Plain values of the field; no I/O."""
