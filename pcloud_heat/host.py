# SPDX-License-Identifier: Apache-2.0

"""``OS::Pcloud::Host``."""

import dataclasses
import typing

from heat.common import exception
from heat.engine import attributes
from heat.engine import properties
from oslo_log import log as logging

from pcloud.client import exceptions
from pcloud.client import resources
from pcloud_heat import base

LOG = logging.getLogger(__name__)

# The longest name of a host.
_LONGEST_NAME = 63


class Host(base.PcloudResource):
    """A host of a Pcloud.

    The deletion drains the host with release, and is complete when the host
    has left the Pcloud. Servers that do not move keep the deletion waiting for
    as long as the stack's time allows.
    """

    PROPERTIES = (
        PCLOUD, NAME, HOST_FLAVOR, CONSTRAINTS, ZONE, STATE, MOVE,
    ) = (
        'pcloud', 'name', 'host_flavor', 'constraints', 'availability_zone',
        'state', 'move',
    )

    ATTRIBUTES = (OF_PCLOUD, FLAVOR) = ('pcloud', 'host_flavor')

    properties_schema = {
        PCLOUD: base.pcloud_property(),
        NAME: properties.Schema(
            properties.Schema.STRING,
            'The name of the host in the Pcloud.'),
        HOST_FLAVOR: properties.Schema(
            properties.Schema.STRING,
            'The id of the host flavor; without it, constraints.'),
        CONSTRAINTS: properties.Schema(
            properties.Schema.STRING,
            'What the host must have, such as "ram=64G cpu=16".'),
        ZONE: properties.Schema(
            properties.Schema.STRING, 'The availability zone of the host.'),
        STATE: base.choice(
            'The state of the host.', ['enabled', 'disabled', 'spare'],
            default='enabled', update_allowed=True),
        MOVE: base.choice(
            'Which servers are moved away when the resource is deleted.',
            ['none', 'live', 'any'], default='none', update_allowed=True),
    }

    attributes_schema = {
        OF_PCLOUD: attributes.Schema(
            'The id of the Pcloud. A server that takes the hint "pcloud" from '
            'here starts when the host is there, and is deleted before.',
            type=attributes.Schema.STRING),
        FLAVOR: attributes.Schema(
            'The id of the host flavor.', type=attributes.Schema.STRING),
    }

    def validate(self) -> None:
        """Check that the template says which host is wanted.

        :raises: `heat.common.exception.StackValidationFailed`
        """
        super().validate()
        if (self.properties[self.HOST_FLAVOR] is None) == (
                self.properties[self.CONSTRAINTS] is None):
            raise exception.StackValidationFailed(
                message=f'{self.name} needs either {self.HOST_FLAVOR} or '
                        f'{self.CONSTRAINTS}')

    def handle_create(self) -> None:
        """Take a free host, and give the host the state of the template."""
        pcloud = self.properties[self.PCLOUD]
        made = self.pclouds().add_host(pcloud, self._name(), **self.given(
            self.HOST_FLAVOR, self.CONSTRAINTS, self.ZONE))
        # A deletion may find the properties of a Pcloud that is gone.
        self.resource_id_set(f'{pcloud}/{made.name}')
        wanted = self.properties[self.STATE]
        if wanted != made.state:
            self.pclouds().set_host_state(pcloud, made.name, wanted)

    def handle_update(self, json_snippet: typing.Any,
                      tmpl_diff: typing.Any, prop_diff: base.Values) -> None:
        """Give the host another state."""
        if self.STATE in prop_diff:
            self.pclouds().set_host_state(
                *self._place(), prop_diff[self.STATE])

    def handle_delete(self) -> None:
        """Have the host emptied and released."""
        if self.resource_id is not None:
            with base.gone:
                self.pclouds().drain_host(
                    *self._place(), move=self.properties[self.MOVE],
                    release=True)

    def check_delete_complete(self, _: typing.Any) -> bool:
        """Return whether the host has left the Pcloud.

        :raises: `heat.common.exception.Error` when the drain has ended, so
            that the host stays
        """
        if self.resource_id is None:
            return True
        found = self._found()
        if found is None:
            return True
        if found.drain is None or not found.drain.get('release'):
            raise exception.Error(
                f'{found.name} is not being drained any more: its state is '
                f'{found.state}')
        for blocker in found.drain.get('blockers') or ():
            LOG.info('Host %(host)s waits for server %(server)s: %(reason)s',
                     {'host': found.name, **blocker})
        return False

    def get_reference_id(self) -> str:
        """Return the name of the host, which calls of the API take."""
        if self.resource_id is None:
            return super().get_reference_id()
        return self._place()[1]

    def _name(self) -> str:
        return self.properties[self.NAME] or (
            self.physical_resource_name_or_FnGetRefId()[:_LONGEST_NAME])

    def _place(self) -> tuple[str, str]:
        """Return the id of the Pcloud and the name of the host."""
        pcloud, _, name = self.resource_id.partition('/')
        return pcloud, name

    def _found(self) -> resources.Host | None:
        try:
            return self.pclouds().get_host(*self._place())
        except exceptions.NotFound:
            return None

    def _show_resource(self) -> dict[str, typing.Any]:
        return dataclasses.asdict(self.pclouds().get_host(*self._place()))

    def _resolve_attribute(self, name: str) -> typing.Any:
        """Return what the host has, None before there is a host."""
        if self.resource_id is None:
            return None
        if name == self.OF_PCLOUD:
            return self._place()[0]
        return self.pclouds().get_host(*self._place()).host_flavor
