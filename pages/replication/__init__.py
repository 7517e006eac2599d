"""The page a referee reads: what the paper claims, what holds of it, and why."""
