"""What can go wrong in the harness; the message is one that a person can act on."""

from pathlib import Path


class HarnessError(Exception):
    """The harness can't do what was asked; the message says what happened and what helps."""


class MissingToolError(HarnessError):
    """A program is neither here nor can be had; names the cure and the variable for a ready one."""

    def __init__(self, *, tool: str, variable: str, cure: str, cause: str = "") -> None:
        reason = f" ({cause})" if cause else ""
        super().__init__(
            f"{tool} is missing{reason}: {cure}, or set {variable} to the path of a ready one"
        )


class ProcessDiedError(HarnessError):
    """A process ended before it was ready; carries the end of its log."""

    def __init__(self, *, name: str, code: int | None, log: Path, tail: str) -> None:
        super().__init__(f"{name} ended with code {code}; the end of {log}:\n{tail}")


class NotReadyError(HarnessError):
    """Something that was waited for did not come about in time; carries what was seen last."""
