"""Files in, what was found in each out; `examine` does one, `workers` spreads them over processes."""
