# SPDX-License-Identifier: Apache-2.0

"""One look of a worker, by which a project's scaled services follow services.

Any number of looks may happen at the same time, and any look may die: what a
look leaves undone, or does twice, the next look puts right.

Rule: reference-colocation-follow, reference-colocation-two
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
import contextlib
import dataclasses

from pcloud.backend.cells import started_servers
from pcloud.backend import outages
from pcloud.client.deploy import checks
from pcloud.client.deploy import removals
from pcloud.client.deploy import scaling
from pcloud.client.deploy import server_runs
from pcloud.client.deploy import services
from pcloud.client import exceptions
from pcloud.client import servers
from pcloud.client import v1
from pcloud.worker import key_pairs


def follow(client: v1.Client, read: Callable[[str], started_servers.Start],
           names: Iterable[str],
           report: Callable[[str], object]) -> list[scaling.UnitChange]:
    """List the project's servers, and do what is due for some services.

    No server is waited for. Missing units are started. A superfluous
    unit is stopped by one look, and deleted by a later look that sees the
    unit stopped, with co-located servers. Nothing is reported when nothing is
    due. A failure is reported, and never raised; what could not be done is due
    at the next look.

    :param read: returns what a server was started with, by the server's id
    :param names: the scaled services; other services are left alone
    :param report: called with the outcome on one line
    :returns: the changes; empty when nothing was changed
    """
    try:
        all_services = services.Services(client.servers.list_all())
    except scaling.FAILURES as error:
        report(f'Scaled services were not looked at: {_reason(error)}')
        return []
    look = _Look(client, read)
    try:
        look.act(all_services, names)
    except scaling.FAILURES as error:
        look.leave('the rest', error)
    summary = look.summary()
    if summary:
        report(summary)
    return look.changes


class _Look:
    """What one look has done, and what the look has left undone."""

    def __init__(self, client: v1.Client,
                 read: Callable[[str], started_servers.Start]) -> None:
        self._client = client
        self._read = read
        self._nova = client.servers
        # The id of a new unit -> the unit, and the text about the unit.
        self._added: dict[str, tuple[scaling.UnitChange, str]] = {}
        self._removed: list[tuple[scaling.UnitChange, str]] = []
        self._undone: list[str] = []

    @property
    def changes(self) -> list[scaling.UnitChange]:
        """The units added or removed for good."""
        return [change for change, _ in (*self._added.values(),
                                         *self._removed)]

    def summary(self) -> str:
        """Return what was done and what was not, or ''."""
        texts = [text for _, text in (*self._added.values(), *self._removed)]
        if self._undone:
            texts.append(f"due, but not done: {', '.join(self._undone)}")
        return f"Scaled services: {'; '.join(texts)}" if texts else ''

    def leave(self, task: str, reason: object) -> None:
        """Note what is due and was not done."""
        self._undone.append(f'{task} ({_reason(reason)})')

    def act(self, all_services: services.Services,
            names: Iterable[str]) -> None:
        """Start missing units, and remove superfluous units.

        :param names: the services to look at
        :raises exceptions.ClientError: when Nova cannot be asked
        """
        ready = [scaled for scaled in scaling.due(all_services, names)
                 if self._is_ready(all_services, scaled)]
        for scaled in ready:
            for unit in scaling.failed(all_services, scaled):
                self._discard(unit, unit.fault or 'its build had failed')
            self._start_missing(all_services, scaled)
        before = {unit.id for scaled in ready
                  for unit in scaling.unneeded(all_services, scaled)}
        if before or self._added:
            self._look_again(ready, before)

    def _is_ready(self, all_services: services.Services,
                  scaled: scaling.Scaled) -> bool:
        """Whether the look acts now; note the reason for waiting."""
        reason = None
        if all_services.hidden:
            reason = 'a part of the cloud does not report where servers are'
        elif scaling.is_being_deployed(all_services, scaled.service):
            reason = ('it is being deployed; if the deployment was killed, '
                      'use "openstack pcloud service sync"')
        if reason:
            self.leave(f"'{scaled.service}'", reason)
        return not reason

    def _start_missing(self, all_services: services.Services,
                       scaled: scaling.Scaled) -> None:
        """Start the missing units of a service, as far as possible."""
        if not scaled.missing:
            return
        try:
            _check_model(all_services, scaled)
            start = self._read(scaled.model.id)
            groups = list(self._groups(all_services, scaled, start))
        except (*scaling.FAILURES, *outages.ANY) as error:
            self.leave(f"'{scaled.service}'", error)
            return
        while groups:
            (planned,), (anchor,) = groups[0].planned, groups[0].near
            try:
                self._start(scaled, start, planned, anchor)
            except exceptions.Forbidden as error:
                # The others would be refused, too.
                names = [group.planned[0].name for group in groups]
                self.leave(' and '.join(names), error)
                return
            except scaling.FAILURES as error:
                self.leave(planned.name, error)
            del groups[0]

    def _groups(self, all_services: services.Services,
                scaled: scaling.Scaled, start: started_servers.Start,
                ) -> Iterator[server_runs.Group]:
        """Plan the missing units.

        :raises exceptions.ClientError: when no unit can be planned now
        """
        model = scaled.model
        if not start.image:
            raise checks.DeploymentRefused(
                f'{model.name} has no image that another one could be '
                f'started from')
        options = dataclasses.replace(
            scaling.copied(model), networks=self._nova.networks(model.id),
            user_data=start.user_data, zone=start.zone,
            security_groups=start.security_groups,
            volume_size=start.volume_size, devices=start.devices)
        kind = checks.UnitKind(
            scaled.service, servers.Image(start.image),
            self._nova.find_flavor(model.flavor), options)
        yield from scaling.groups(all_services, kind, scaled)

    def _start(self, scaled: scaling.Scaled, start: started_servers.Start,
               planned: server_runs.Planned,
               anchor: servers.Server) -> None:
        """Start a unit beside another, without a wait.

        :raises exceptions.ClientError: when the unit cannot be started
        """
        problems = checks.Problems()
        checks.check_room_beside(
            self._client, [planned.kind], anchor, problems)
        if problems.texts:
            raise checks.DeploymentRefused('; '.join(problems.texts))
        with key_pairs.lent(self._nova, start.key_pair) as key_pair:
            server_id = dataclasses.replace(
                planned, options=dataclasses.replace(
                    planned.options, key_pair=key_pair),
            ).create(self._nova, {}, {})
        self._added[server_id] = (
            scaling.UnitChange(scaled.service, planned.name, server_id,
                               scaling.ADDED),
            f'{planned.name} is started beside {anchor.name}'
            f'{_without_volumes(scaled.model, start)}')

    def _look_again(self, ready: Sequence[scaling.Scaled],
                    before: set[str]) -> None:
        """Remove units that are superfluous still, new units included.

        Two looks at the same time may start a unit for the same host. Each
        look lists the servers after its own start, hence the later look sees
        both units, and deletes the second unit.
        """
        again = services.Services(self._nova.list_known())
        for scaled in ready:
            for unit in self._lost(again, scaled):
                self._discard(unit, 'the service is being removed')
            for unit in scaling.building_doubles(again, scaled):
                self._discard(unit, 'another one was started first')
        for unit in scaling.confirmed_surplus(
                again, ready, before | self._rivals(again, ready)):
            self._remove(again, unit)

    def _rivals(self, again: services.Services,
                ready: Sequence[scaling.Scaled]) -> set[str]:
        """Return the ids of new units, and of units that came meanwhile.

        The units that came meanwhile are on the hosts of the new units.
        """
        units = [unit for scaled in ready
                 for unit in again.units(scaled.service)]
        hosts = {again.place(unit) for unit in units
                 if unit.id in self._added}
        return {unit.id for unit in units if services.is_unattended(unit)
                and again.place(unit) in hosts - {''}}

    def _lost(self, again: services.Services,
              scaled: scaling.Scaled) -> list[servers.Server]:
        """Return the new units of a service, of which all other units went."""
        units = list(scaling.started(
            again, scaled.service, scaled.scale_with))
        if any(services.is_settled(unit) and unit.id not in self._added
               for unit in units):
            return []
        return [unit for unit in units if unit.id in self._added]

    def _discard(self, unit: servers.Server, reason: str) -> None:
        """Delete a unit that has never run."""
        try:
            with contextlib.suppress(exceptions.NotFound):
                self._nova.delete(unit.id)
        except scaling.FAILURES as error:
            self.leave(f'the removal of {unit.name}', error)
            return
        if not self._added.pop(unit.id, None):
            self._removed.append((
                scaling.removed(unit),
                f'{unit.name} is removed ({_reason(reason)})'))

    def _remove(self, again: services.Services,
                unit: servers.Server) -> None:
        """Stop or delete a unit, with the servers co-located with the unit."""
        try:
            step = removals.take_step(self._nova, again, unit)
        except scaling.FAILURES as error:
            self.leave(f'the removal of {unit.name}', error)
            return
        for change in (*map(scaling.stopped, step.stop),
                       *map(scaling.removed, step.delete)):
            if not self._added.pop(change.id, None):
                self._removed.append((
                    change, f'{change.name} is {change.change}'))


def _check_model(all_services: services.Services,
                 scaled: scaling.Scaled) -> None:
    """Refuse new units while units may not be missing.

    :raises checks.DeploymentRefused: with the reason
    """
    for unit in all_services.units(scaled.service):
        if unit.status == servers.BUILD and not all_services.place(unit):
            raise checks.DeploymentRefused(
                f'{unit.name} is being built, on which host is not known')
        if unit.task == servers.DELETING:
            raise checks.DeploymentRefused(f'{unit.name} is being deleted')
    if not services.is_settled(scaled.model):
        raise checks.DeploymentRefused(
            'there is no running unit that another one could be like')


def _without_volumes(model: servers.Server,
                     start: started_servers.Start) -> str:
    """Return how a copy differs from a unit with attached volumes."""
    if not start.attached:
        return ''
    return (f', without the volumes of {model.name}: '
            f'{", ".join(start.attached)}')


def _reason(error: object) -> str:
    text = getattr(error, 'message', None) or str(error)
    return ' '.join(text.split()).rstrip('.') or type(error).__name__
