"""What can go wrong with a cluster."""


class ClusterError(Exception):
    """A cluster that cannot be used; the message names it and what is wrong."""


class SchedulerLostError(ClusterError):
    """The scheduler has gone, and with it the way to all workers."""


class WorkersLostError(ClusterError):
    """A task whose workers died, one after the other, as Dask counts them."""
