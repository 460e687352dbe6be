"""One form for every harness's own log: steps, tool calls, images viewed, tokens by kind, models, cost."""
