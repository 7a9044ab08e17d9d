"""The screens. Only this package knows Textual; nothing here touches a file or the journal, but asks the engine."""
