"""Findings in, edits and new texts out; `propose` and `apply` are the doors. The only room that edits trees."""
