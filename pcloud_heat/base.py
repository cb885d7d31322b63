# SPDX-License-Identifier: Apache-2.0

"""The common base of Pcloud's resources."""

from collections.abc import Mapping
import contextlib
import typing

from heat.engine import constraints
from heat.engine import properties
from heat.engine import resource

from pcloud.client import exceptions
from pcloud.client import v1


class PcloudResource(resource.Resource):
    """A resource that nova-api keeps.

    Region, interface and user of the calls are those of Heat's own client of
    Nova.
    """

    default_client_name = 'nova'
    entity: str | None = None

    def pclouds(self) -> v1.Client:
        """Return the client of the Pcloud API."""
        return v1.Client.from_adapter(self.client().client)

    def given(self, *names: str) -> dict[str, typing.Any]:
        """Return the properties of these names that the template gives."""
        return {name: self.properties[name] for name in names
                if self.properties[name] is not None}


# What the API says of a resource that is gone already.
gone = contextlib.suppress(exceptions.NotFound)


def pcloud_property() -> properties.Schema:
    """Return the schema of the property that names the Pcloud.

    Another Pcloud is another resource.
    """
    return properties.Schema(
        properties.Schema.STRING, 'The id of the Pcloud.', required=True)


def choice(description: str, choices: list[str],
           **more: typing.Any) -> properties.Schema:
    """Return the schema of a property with a few values.

    :param more: further arguments of Heat's class
    """
    return properties.Schema(
        properties.Schema.STRING, description,
        constraints=[constraints.AllowedValues(choices)], **more)


def count(description: str, least: int) -> properties.Schema:
    """Return the schema of a number that may be changed."""
    return properties.Schema(
        properties.Schema.INTEGER, description, update_allowed=True,
        constraints=[constraints.Range(min=least)])


Values = Mapping[str, typing.Any]
