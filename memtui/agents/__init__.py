"""Programs that act through the engine. Nothing here knows a screen."""
