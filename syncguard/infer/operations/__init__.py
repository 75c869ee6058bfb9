"""Calls of torch: the rows of the op table applied to arguments, their conditions and what they return."""
