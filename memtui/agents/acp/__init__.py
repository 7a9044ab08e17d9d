"""Agents that a person has installed, in the chat: a client of the Agent Client Protocol (ACP), version 1, over stdio.

The agent runs as a program of its own, with its own login; memtui keeps none. It gets the memory folder as its working
directory and as an MCP server, and each change below the folder goes through the engine.
"""
