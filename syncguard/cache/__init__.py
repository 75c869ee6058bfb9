"""What earlier runs read and found, kept on disk, and judged for what is still true; `store` is the door."""
