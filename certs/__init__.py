"""Certificates for serving and for tests: an authority, pairs signed by it, and a command for both."""
