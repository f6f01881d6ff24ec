"""Every error that Burnish raises on purpose, in one tree.

    BurnishError                 exit 1
    ├── UsageError               exit 2: the command asks for something that cannot be
    ├── KernelError              a kernel's file cannot be read, understood or tuned
    ├── SpaceError               an unknown control, or a value outside its domain
    ├── ToolchainError           a compiler is missing, broken or refused to work
    ├── AcfError                 a controls file says something that is not understood
    ├── LaunchError              a launch file or its inputs cannot be used
    ├── StoreError               the database of trials cannot be used
    ├── DeviceError              a device is missing or unhealthy
    ├── ObjectiveError           the user's objective failed for every config
    ├── InterruptedStudyError    exit 130: stopped by the user; holds the line that resumes
    └── InternalError            a check of Burnish's own work failed: please report it
        └── RewriteError         a rewritten kernel is not the plain one: it is not used

A message says what is wrong, which value, where, and what to do. What goes wrong with one
candidate is no error: it is a trial (`burnish.model.trial`).
"""

__all__ = [
    "AcfError",
    "BurnishError",
    "DeviceError",
    "InternalError",
    "InterruptedStudyError",
    "KernelError",
    "LaunchError",
    "ObjectiveError",
    "RewriteError",
    "SpaceError",
    "StoreError",
    "ToolchainError",
    "UsageError",
]


class BurnishError(Exception):
    """Any error that Burnish reports in one line."""

    exit_code = 1


class UsageError(BurnishError):
    """The command asks for something that cannot be: a bad option, a missing file or entry."""

    exit_code = 2


class KernelError(BurnishError):
    """A kernel's file cannot be read, understood or tuned."""


class SpaceError(BurnishError):
    """An unknown control, or a value outside of its domain."""


class ToolchainError(BurnishError):
    """A compiler is missing, broken or refused to work."""


class AcfError(BurnishError):
    """A controls file says something that is not understood."""


class LaunchError(BurnishError):
    """A launch file, or the inputs that it describes, cannot be used."""


class StoreError(BurnishError):
    """The database of trials cannot be used, or holds another study of that name."""


class DeviceError(BurnishError):
    """A device is missing, busy or unhealthy."""


class ObjectiveError(BurnishError):
    """The user's objective failed for every config, so there is no winner."""


class InterruptedStudyError(BurnishError):
    """The user stopped a study; what it found is stored.

    Attributes:
        study: Its name, to go on with it.
    """

    exit_code = 130

    def __init__(self, message: str, study: str) -> None:
        super().__init__(message)
        self.study = study


class InternalError(BurnishError):
    """A check of Burnish's own work failed. The message names what to report."""


class RewriteError(InternalError):
    """A rewritten PTX entry differs from the plain one in more than the known rewrites may.

    The message names the rule, the statement and both of its places.
    """
