# SPDX-License-Identifier: Apache-2.0

"""When the guest of a server is ready, which only the guest can tell.

Rule: reference-colocation-ready
"""

from collections.abc import Mapping
import dataclasses

# Metadata of a unit: what tells that the unit's guest is ready.
KEY = 'pcloud_ready'
# Where a guest tells, before the key and the value.
PLACE = 'metadata:'


@dataclasses.dataclass(frozen=True)
class Ready:
    """The item of a server's metadata that tells that the guest is ready."""

    key: str
    value: str

    def __str__(self) -> str:
        return f'{self.key}={self.value}'

    def is_met(self, metadata: Mapping[str, str]) -> bool:
        """Whether the metadata of a server tell that the guest is ready."""
        return metadata.get(self.key) == self.value


def read(text: str) -> Ready | None:
    """Read ``<key>=<value>``; return None for any other text."""
    key, equals, value = text.partition('=')
    return Ready(key, value) if key and equals else None
