"""How often a place runs, with the path that shows it."""
