"""A conversation with Claude over an open memory, without a screen: streaming, tools, approvals, faults, sessions.

It tells what happens as values (`memtui.agents.chat.events`); screens and scripts match on them. Importing this package
does not load the SDK: that takes seconds, so the conversation's own thread does it.
"""
