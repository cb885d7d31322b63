# SPDX-License-Identifier: Apache-2.0

"""Who waits for hosts, in words."""

from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses

from django.utils.translation import gettext as _

from pcloud_dashboard import shown

from pcloud.client import waiting_resources


@dataclasses.dataclass(frozen=True)
class ShownEntry:
    """An entry of a waiting list.

    :ivar owner: the name of the project, or its id; None where the list is a
        Pcloud's own, likewise pcloud
    """

    id: str
    name: str
    host_flavor: str
    zone: str
    position: int
    since: str
    until: str
    owner: str | None
    pcloud: str | None


def entries(found: Iterable[waiting_resources.Waiting],
            projects: Mapping[str, str],
            pclouds: Mapping[str, str]) -> list[ShownEntry]:
    """Return the entries of a waiting list, in its order.

    :param projects: the names of projects by id, likewise pclouds
    """
    return [ShownEntry(
        each.id, each.name, each.host_flavor,
        each.availability_zone or _('any'), each.position,
        shown.day_and_time(each.since), shown.day_and_time(each.until),
        each.owner and projects.get(each.owner, each.owner),
        each.pcloud and pclouds.get(each.pcloud, each.pcloud))
        for each in found]
