"""What stands around a place: its statements and tests, what is bound and changed there, who calls its function."""
