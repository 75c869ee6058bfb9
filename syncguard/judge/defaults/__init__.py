"""An expression in, what it is unless somebody sets it out."""
