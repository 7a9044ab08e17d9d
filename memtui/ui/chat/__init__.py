"""The conversation with a model on screen: what was said, what it does to the memory, and what is asked."""
