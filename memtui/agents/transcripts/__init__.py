"""What other agents' session files say about who wrote which memory. Nothing in them is believed more than it says."""
