"""Session files of other agents: the writers of memories, as far as the files tell them."""
