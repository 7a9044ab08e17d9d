"""What agents, people and other programs did to the folder, line by line as it happens."""
