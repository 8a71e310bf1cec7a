"""Work that is given to the machines of a Dask cluster: matches, self-play, scores, tuning."""
