"""An audit and a review on screen: the lists, what is known of each row, and what feeds them."""
