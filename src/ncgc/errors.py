"""What goes wrong with a person's input, as sentences: what was found, where, and what to do.

Every error here is shown by the command line as one line with exit code 2. Anything else is a bug and may show a traceback.
"""


class NCGCError(ValueError):
    """Base of every error that is the input's fault."""


class GraphError(NCGCError):
    """The graph, its features or its labels cannot be used as given."""


class InputError(NCGCError):
    """A person's file cannot be used as given; says which file, which row, and what to do."""


class ParameterError(NCGCError):
    """A hyper-parameter, option or configuration key is unknown or out of range."""


class SplitError(NCGCError):
    """The split asked for cannot be drawn from these labels."""


class DatasetError(NCGCError):
    """A data set is unknown, missing or damaged."""


class TrainingError(NCGCError):
    """Training could not produce a model at all."""


class ModelFileError(NCGCError):
    """A saved model is missing, damaged, of another version, or a model cannot be saved."""


class OutputError(NCGCError):
    """Results cannot be written where they were asked for."""


class MissingPackageError(NCGCError):
    """An optional package is needed and not installed."""


class PeerError(NCGCError):
    """Another process of a distributed training is missing or was lost: exit code 3."""


class CheckpointError(NCGCError):
    """A checkpoint to go on from is missing, damaged, or belongs to another training."""
