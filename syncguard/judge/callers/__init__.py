"""What calls say of a place, in its own file and in others: which lead there, and what they give."""
