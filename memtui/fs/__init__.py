"""File calls that cannot leave a directory, atomic writes, locks and confinement of the process."""
