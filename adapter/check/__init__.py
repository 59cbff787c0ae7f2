"""The check of rules before they serve: what is wrong, in doubt, and matched now."""
