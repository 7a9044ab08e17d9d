"""How fast memtui is, against what a person or an agent would use instead, measured in one run on one machine."""
