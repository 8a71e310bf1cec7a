"""Run matches, self-play, relabelling and tuning on a Dask cluster."""
