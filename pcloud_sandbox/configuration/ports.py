# SPDX-License-Identifier: Apache-2.0

"""Which TCP ports the services of a sandbox listen on."""

import random
import socket

from pcloud_sandbox import errors

HOST = '127.0.0.1'
SERVICES = ('keystone', 'placement', 'glance', 'neutron', 'nova', 'horizon',
            'heat')
SEARCHED = (10000, 32000)
ATTEMPTS = 50


def choose(base: int | None) -> dict[str, int]:
    """Return a port for each service.

    :param base: Keystone's port; the ports of the next services follow in
        the order of ``SERVICES``; None finds free ports
    :returns: service name -> port
    :raises SandboxError: a chosen port is taken or out of range
    """
    if base is None:
        return find_free()
    if not 1 <= base <= 65536 - len(SERVICES):
        raise errors.SandboxError(
            f'--port-base {base}: must be from 1 to '
            f'{65536 - len(SERVICES)}')
    chosen = {name: base + n for n, name in enumerate(SERVICES)}
    for name, port in chosen.items():
        check_free(name, port)
    return chosen


def find_free() -> dict[str, int]:
    """Return free ports with consecutive numbers.

    The search stays below the kernel's range for outgoing connections, so
    that no connection takes a port before the service listens. The search
    is random, so that two sandboxes that start together choose different
    ports.

    :returns: service name -> port
    :raises SandboxError: no range that was tried was free
    """
    reason: errors.SandboxError | None = None
    for base in random.sample(range(*SEARCHED, len(SERVICES)), ATTEMPTS):
        try:
            return choose(base)
        except errors.SandboxError as error:
            reason = error
    raise errors.SandboxError(
        f'no free ports found between {SEARCHED[0]} and {SEARCHED[1]}: '
        f'{reason}')


def check_free(name: str, port: int) -> None:
    """Make sure that a service can listen on a port.

    :raises SandboxError: the service cannot listen; the message names the
        port and the service
    """
    with socket.socket() as listener:
        # As the services do: a port in TIME_WAIT may be used again.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
        except OSError as error:
            raise errors.SandboxError(
                f'port {port}, wanted for {name}, cannot be used '
                f'({error.strerror}); choose another --port-base, or leave '
                'it out to have free ports found') from error
