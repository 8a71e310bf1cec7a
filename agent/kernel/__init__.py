"""What every compiled game shares: decorators and cache, machine operations, threads, a tree."""
