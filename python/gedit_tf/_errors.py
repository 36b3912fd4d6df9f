"""What goes wrong, as the program says it, its parts kept apart."""
import json
from typing import Dict, Type


class Error(Exception):
    """A refusal in one line: `[FILE: ][SUBJECT: ]MESSAGE[; hint: HINT]`. Parts that it has not are empty."""

    def __init__(self, line: str, file: str = "", subject: str = "", message: str = "", hint: str = "", status: int = 3):
        super().__init__(line)
        self.file, self.subject, self.message, self.hint, self.status = file, subject, message or line, hint, status


class UsageError(Error):
    """The request itself makes no sense (status 2)."""


class InputError(Error):
    """An input cannot be read or is not valid (status 3)."""


class RefusedError(Error):
    """The edit would do harm: no such name, a collision, a dangling input (status 4)."""


class WriteError(Error):
    """The output cannot be written (status 5)."""


class Warning(UserWarning):  # pylint: disable=redefined-builtin
    """What the program warned of while it did what was asked."""


KINDS: Dict[int, Type[Error]] = {2: UsageError, 3: InputError, 4: RefusedError, 5: WriteError}


def error_of(status: int, stderr: str) -> Error:
    """The error that the last line of `stderr` tells, in the form that GEDIT_ERRORS=json has."""
    lines = stderr.strip().splitlines()
    try:
        parts = json.loads(lines[-1])
        line = parts.pop("line")
    except (IndexError, ValueError, KeyError, TypeError):
        parts, line = {}, "\n".join(lines) or "gedit ended with status %d" % status
    return KINDS.get(status, Error)(line, status=status, **parts)
