"""Syncs in, findings out: a rule for each, its message, its heat, its level; `judge` is the door."""
