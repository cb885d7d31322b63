# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Virt drivers for tests."""

import random
import threading
import time

from nova.virt import fake


class RenamingDriver(fake.MediumFakeDriver):
    """A fake hypervisor whose name differs from the service host's name.

    On many clouds ``aggregate_hosts.host`` and ``hypervisor_hostname``
    differ. Code that confuses the two names works only on clouds where the
    names are equal.
    """

    def _set_nodes(self, nodes):
        super()._set_nodes([f'{node}.hv.example.org' for node in nodes])


class SizedDriver(RenamingDriver):
    """Hosts of different sizes: cpus, MiB of memory, GiB of disk."""

    sizes = {'node-1': (2, 2048, 100), 'node-2': (4, 4096, 100),
             'node-3': (8, 6144, 100), 'node-4': (4, 8192, 200),
             'node-5': (4, 8192, 200)}

    def init_host(self, host):
        self.resources = fake.Resources(*self.sizes[host])
        super().init_host(host)


class Gate:
    """A gate at which builds and resizes wait, and may fail afterwards.

    :ivar waiting: the service hosts of builds and resizes that wait or have
        waited
    :ivar failures: number of builds and resizes that are going to fail
    """

    def __init__(self) -> None:
        self._opened = threading.Event()
        self._lock = threading.Lock()
        self.open()
        self.waiting: list[str] = []
        self.failures = 0

    def close(self, failures: int) -> None:
        """Let all later builds and resizes wait.

        :param failures: number of builds and resizes that are to fail
        """
        self.waiting, self.failures = [], failures
        self._opened.clear()

    def open(self) -> None:
        """Let all builds and resizes go on."""
        self._opened.set()

    def pass_through(self, host: str) -> None:
        """Wait until the gate is open.

        :raises: `RuntimeError` when the build or resize is to fail
        """
        with self._lock:
            self.waiting.append(host)
        self._opened.wait()
        with self._lock:
            self.failures -= 1
            if self.failures >= 0:
                raise RuntimeError('It fails late.')


class HeldDriver(RenamingDriver):
    """Builds and resizes wait at a gate."""

    gate = Gate()

    def spawn(self, *args, **kwargs):
        self.gate.pass_through(self._host)
        return super().spawn(*args, **kwargs)

    def migrate_disk_and_power_off(self, *args, **kwargs):
        self.gate.pass_through(self._host)
        return super().migrate_disk_and_power_off(*args, **kwargs)


class LateDriver(RenamingDriver):
    """Builds and resizes are slow, and many builds and resizes fail late.

    :cvar failed: the service hosts of builds and resizes that have failed
    """

    failed: list[str] = []

    def spawn(self, *args, **kwargs):
        self._be_late()
        return super().spawn(*args, **kwargs)

    def migrate_disk_and_power_off(self, *args, **kwargs):
        self._be_late()
        return super().migrate_disk_and_power_off(*args, **kwargs)

    def _be_late(self) -> None:
        time.sleep(random.uniform(0, 1))
        if random.random() < 0.3:
            self.failed.append(self._host)
            raise RuntimeError('It fails late.')
