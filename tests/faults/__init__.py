"""What is left when a process dies, or a system call fails, at any moment at all."""
