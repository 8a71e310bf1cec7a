class ClusterError(Exception):
    """Raised when a cluster is unusable. The message names the cluster and the problem."""


class SchedulerLostError(ClusterError):
    """Raised when the connection to the scheduler is lost."""


class WorkersLostError(ClusterError):
    """Raised when Dask gives up on a task because too many workers died while running it."""
