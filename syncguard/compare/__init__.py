"""What was predicted x what was observed -> verdicts; runs side by side; ranks as one. Imports no torch."""
