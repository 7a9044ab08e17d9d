"""Memory stores of the API as places: `anthropic:memstore_...`. Only this package and the conversation know the SDK."""
