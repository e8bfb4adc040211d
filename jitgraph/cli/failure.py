"""The errors that a command ends with."""


class Failure(Exception):
    """Ends a command with one or two lines on standard error and an exit code, 2 unless given."""

    def __init__(self, message: str, exit_code: int = 2) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class Interrupted(Failure):
    """The user pressed Ctrl-C: exit code 130, as shells have it."""

    def __init__(self) -> None:
        super().__init__("interrupted", 130)
