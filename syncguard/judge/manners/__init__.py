"""What a wait is for and how it waits: which hint fits, and where it is no hazard."""
