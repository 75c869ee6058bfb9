"""Tests and arms: what a test tells of the variables, and how often what stands behind it runs."""
