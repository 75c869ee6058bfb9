"""What a run observed, for people: a table, a page, a trace, and two runs side by side."""
