"""Going along links: where one leads, what a note is about, and what is asked before anything outside is opened."""
