"""Search tracing, which reports every visited node, returned value and cut-off."""
