"""The options that must be set for a place to be reached."""
