"""Expressions: names, attributes, operators, subscripts, displays and calls, each with the value that it has."""
