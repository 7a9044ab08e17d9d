"""What notes say to each other: their links, relations and observations, as a graph, now and at any event.

`parse` reads one note; `names` says which note a link means, by the rules of the agent whose folder it is; `graph`
holds notes and edges, and is kept up by the notes that changed; `analysis` finds what is not reached, islands, hubs,
cycles and neighbourhoods; `mentions` finds names that are no links; `past` makes the same graph for any event, and says
which event brought an edge in; `cache` keeps what was read. `context` answers a `memory://` address.

Nothing here looks at the folder or changes anything: texts come from the journal (`source`), by their hashes.
"""
