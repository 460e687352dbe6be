"""The model gateway: between an agent's harness and the service of its model, on the host's side of the sandbox."""
