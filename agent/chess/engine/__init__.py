"""What connects the chess searches to the agent: backend, options, levels."""
