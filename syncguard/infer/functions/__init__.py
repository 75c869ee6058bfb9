"""Functions from outside: what their parameters hold, what callers may believe of them, what calling them costs."""
