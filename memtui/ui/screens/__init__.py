"""What fills the terminal: one file a screen. A screen routes; what is longer belongs in a widget or the core."""
