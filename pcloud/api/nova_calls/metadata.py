# SPDX-License-Identifier: Apache-2.0

"""Refuse wrong values of Pcloud's keys where administrators set the values.

Administrators may set values with Nova's own calls, on aggregates and flavors,
and projects on images. A wrong value would have no effect or close hosts, and
only a log would report the value. The removal of a key is always allowed. An
error names the key, as a call may set many keys.

Rule: reference-isolation-values
"""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
import contextlib
import re
from typing import TypeAlias

from nova.api.openstack.compute import aggregates as nova_aggregates
from nova.api.openstack.compute import flavors_extraspecs
from nova.api.openstack.compute import image_metadata
from nova.api.openstack.compute import servers as nova_servers
from nova.policies import aggregates

from pcloud.api.nova_calls import dispatch
from pcloud.backend.aggregates import readings
from pcloud.backend.aggregates import rows
from pcloud import exception
from pcloud.objects.placing import right_values

_Check: TypeAlias = Callable[
    [dispatch.NovaCall, Iterable[tuple[str, str]]], None]

_EXTRA_SPECS = flavors_extraspecs.FlavorExtraSpecsController
_IMAGES = image_metadata.ImageMetadataController
_ID = re.compile(r'[0-9]{1,9}')


def check(call: dispatch.NovaCall) -> None:
    """Check the values that a call sets for Pcloud's keys.

    Nova answers all calls that set neither metadata, extra specs nor image
    properties, and calls that are not well-formed.

    :raises: `exception.Invalid`
    """
    for controller, action, inside, check_items in _SETTERS:
        if call.is_of(controller, action):
            _check(call, inside, check_items)


def _check(
    call: dispatch.NovaCall, inside: Iterable[str], check_items: _Check,
) -> None:
    """Check the items in a member of a body.

    :param inside: the names of the members that lead to the items
    """
    try:
        members = call.body
        for name in inside:
            members = members[name]
        # Nova keeps a number as text.
        items = [(key, str(value)) for key, value in members.items()
                 if isinstance(value, str | int | float)]
    except (KeyError, TypeError, AttributeError):
        return
    check_items(call, items)


def _check_metadata(
    call: dispatch.NovaCall, items: Iterable[tuple[str, str]],
) -> None:
    for key, value in items:
        with _naming(key):
            right_values.check_metadata(key, value)
            if key in readings.RATIOS and _is_for_pcloud(call, dict(items)):
                right_values.check_ratio(key, value)


def _is_for_pcloud(
    call: dispatch.NovaCall, new: Mapping[str, str],
) -> bool:
    """Whether a call sets the ratios of a Pcloud.

    A caller who may not make Nova's call learns nothing about the aggregate.
    Pcloud has no rules for the ratios of other aggregates; an aggregate whose
    id is not in the usual form counts as a Pcloud.
    """
    context, aggregate_id = call.context, call.arguments['id']
    if not context.can(
            aggregates.POLICY_ROOT % 'set_metadata', fatal=False):
        return False
    if not _ID.fullmatch(aggregate_id):
        # Nova leaves the conversion of such an id to the database.
        return True
    aggregate = rows.of_id(context, int(aggregate_id))
    return aggregate is not None and right_values.is_ratio_of_pcloud(
        aggregate.name, {**aggregate.metadata, **new})


def _check_extra_specs(
    _: dispatch.NovaCall, items: Iterable[tuple[str, str]],
) -> None:
    for key, value in items:
        with _naming(key):
            right_values.check_extra_spec(key, value)


def _check_properties(
    _: dispatch.NovaCall, items: Iterable[tuple[str, str]],
) -> None:
    for key, value in items:
        with _naming(key):
            right_values.check_image_property(key, value)


@contextlib.contextmanager
def _naming(key: str) -> Iterator[None]:
    """Name the key in an error about the value of the key.

    :raises: `exception.Invalid`
    """
    try:
        yield
    except exception.Invalid as error:
        if key in str(error):
            raise
        raise exception.Invalid(f'{key}: {error}') from error


# The calls that set values: controller, action, the members of the body that
# lead to the values, and the check of the values.
_SETTERS: tuple[tuple[type, str, tuple[str, ...], _Check], ...] = (
    (nova_aggregates.AggregateController, 'set_metadata',
     ('set_metadata', 'metadata'), _check_metadata),
    (_EXTRA_SPECS, 'create', ('extra_specs',), _check_extra_specs),
    (_EXTRA_SPECS, 'update', (), _check_extra_specs),
    (_IMAGES, 'create', ('metadata',), _check_properties),
    (_IMAGES, 'update_all', ('metadata',), _check_properties),
    (_IMAGES, 'update', ('meta',), _check_properties),
    *((nova_servers.ServersController, action, (action, 'metadata'),
       _check_properties) for action in ('createImage', 'createBackup')),
)
