"""What was found in each of several files in, the same out as all of them together say; `elsewhere` is the door."""
