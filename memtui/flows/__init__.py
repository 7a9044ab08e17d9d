"""The dialogs with a person, decided once: the screens and the line by line mode only ask and show."""
