"""Where the bytes are. Nobody but a store touches files, and nobody but the engine touches a store."""
