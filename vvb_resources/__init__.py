"""Everything that touches the world outside the graph, and the shapes of what comes from it."""
