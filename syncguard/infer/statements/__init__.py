"""Statements: what they bind, and where control comes out of them."""
