# SPDX-License-Identifier: Apache-2.0

"""What each project uses of a Pcloud, and may use."""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses

from django.utils.translation import gettext as _

from pcloud_dashboard import shown

from pcloud.client import resources
from pcloud.client import usage_resources


@dataclasses.dataclass(frozen=True)
class ShownTenant:
    """A project that may start servers in a Pcloud, or still has some there.

    :ivar name: None where nobody tells the user the name
    :ivar is_tenant: whether the project may start servers still
    :ivar servers: what is used, against the cap where there is one; None
        while nobody knows, likewise vcpus, memory and share
    """

    id: str
    name: str | None
    is_owner: bool
    is_tenant: bool
    servers: shown.Bar | None
    vcpus: shown.Bar | None
    memory: shown.Bar | None
    share: shown.Bar | None

    @property
    def title(self) -> str:
        """What the user calls the project."""
        return self.name or self.id


def tenants(pcloud: resources.Pcloud, known: Iterable[resources.Tenant],
            use: usage_resources.PcloudUse | None,
            names: Mapping[str, str]) -> list[ShownTenant]:
    """Return the projects, the owner first, and then by name.

    :param use: None while nobody knows what is used
    :param names: the names of the user's own projects, by id
    """
    by_id = {each.project_id: each for each in known}
    used = {each.project: each for each in use.tenants} if use else {}
    return sorted(
        (_tenant(pcloud, each, by_id.get(each), used.get(each),
                 names.get(each)) for each in {**by_id, **used}),
        key=lambda each: (not each.is_owner, each.title.casefold()))


def _tenant(pcloud: resources.Pcloud, project: str,
            tenant: resources.Tenant | None,
            use: usage_resources.TenantUse | None,
            name: str | None) -> ShownTenant:
    caps = tenant or resources.Tenant(project)
    is_owner, is_tenant = project == pcloud.owner, tenant is not None
    if use is None:
        return ShownTenant(project, caps.name or name, is_owner, is_tenant,
                           None, None, None, None)
    return ShownTenant(
        project, caps.name or use.name or name, is_owner, is_tenant,
        _bar(use.servers, caps.max_servers, shown.amount),
        _bar(use.vcpus, caps.max_vcpus, shown.amount),
        _bar(use.memory_mb, caps.max_memory_mb, shown.memory),
        shown.part(use.share))


def _bar(used: int, cap: int | None,
         words: Callable[[float], str]) -> shown.Bar:
    if cap is None:
        return shown.Bar(used, None, words(used))
    return shown.Bar(used, cap, _('%(used)s of at most %(cap)s') % {
        'used': words(used), 'cap': words(cap)})
