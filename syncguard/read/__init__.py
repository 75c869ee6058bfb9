"""Files in, their text and its core out; `find`, `source` and `lower` are the doors."""
