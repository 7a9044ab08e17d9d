"""Pure values and rules: what a memory, a command and an event are, with nothing but the standard library.

Everything here can be imported in a few milliseconds and tested without a disk. If a rule leaked out of
this package, two front ends could give two answers to one command.
"""
