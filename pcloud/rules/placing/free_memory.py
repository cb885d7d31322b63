# SPDX-License-Identifier: Apache-2.0

"""Memory of a host that no server has.

Rule: reference-placement-keys-memory
"""


def is_known(memory_mb: int | None, free_mb: int | None) -> bool:
    """Return whether it is known how much memory of a host no server has.

    :param memory_mb: MiB that the host reports; 0 for a host that reports none
    :param free_mb: MiB that no server has
    """
    return bool(memory_mb) and free_mb is not None


def is_enough(
    memory_mb: int | None, free_mb: int | None, wanted_mb: int,
) -> bool:
    """Return whether a host has more memory left than is wanted.

    ====================  ===========
    memory left           host passes
    ====================  ===========
    not known             yes
    less than wanted      no
    as much as wanted     no
    more than wanted      yes
    ====================  ===========

    :param memory_mb: as in `is_known`
    :param free_mb: as in `is_known`; below 0 where servers have more memory
        than there is
    :param wanted_mb: MiB of the server and the overhead

    Rule: reference-placement-keys-memory
    """
    return (free_mb is None or not is_known(memory_mb, free_mb) or
            free_mb > wanted_mb)
