"""A run -> observed syncs. The only room that imports torch."""
