"""Two people changed one note: what each of them did to it, and what can be chosen."""
