"""Findings and pages as text: for people, and for other programs."""
