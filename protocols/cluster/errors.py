class ClusterError(Exception):
    """A cluster is unusable. The message names the cluster and the problem."""


class SchedulerLostError(ClusterError):
    """The connection to the scheduler is lost."""


class WorkersLostError(ClusterError):
    """Dask has given up on a task because too many workers died while running it."""
