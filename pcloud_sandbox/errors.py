# SPDX-License-Identifier: Apache-2.0

"""Errors of a sandbox, with messages for the user."""


class SandboxError(Exception):
    """The sandbox cannot do what was asked.

    The message says what was wrong and what would be right; the command
    line prints the message and ends with status 1.
    """


class NotInstalled(SandboxError):
    """Nova, or another service that the sandbox runs, is not installed."""


class StartFailed(SandboxError):
    """A part of the cloud did not start.

    :param message: what did not start
    :param log: path of the log that shows the reason, or None
    """

    def __init__(self, message: str, log: str | None = None):
        super().__init__(message)
        self.log = log
