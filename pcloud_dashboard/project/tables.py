# SPDX-License-Identifier: Apache-2.0

"""The table of Pclouds."""

import collections
from collections.abc import Iterable

from django import http
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from horizon import tables

from pcloud_dashboard.launch import links
from pcloud_dashboard import policies
from pcloud_dashboard.project import pages
from pcloud_dashboard import shown
from pcloud_dashboard import stacked

from pcloud.client import resources


class CreatePcloud(tables.LinkAction):
    """The button for a new Pcloud."""

    name = 'create'
    verbose_name = _('Create Pcloud')
    url = 'horizon:project:pclouds:create'
    classes = ('ajax-modal',)
    icon = 'plus'
    policy_rules = (('pcloud', policies.CREATE),)


class LaunchHere(tables.LinkAction):
    """The button that starts the launch of a server in a Pcloud."""

    name = 'launch'
    verbose_name = _('Launch Instance')
    icon = 'cloud-upload'
    ajax = False
    classes = ('btn-launch',)
    policy_rules = (('compute', policies.LAUNCH),)

    def get_link_url(self, datum: resources.Pcloud) -> str:
        """Return nowhere: the button opens a dialog."""
        self.attrs.update(links.attributes(datum))
        return '#'


class OwnersAction(tables.LinkAction):
    """A button that the owner of a Pcloud sees.

    :cvar rule: the policy about what the button does
    """

    rule: str

    def allowed(self, request: http.HttpRequest,
                datum: resources.Pcloud | None = None) -> bool:
        """Return whether the user may do what the button does."""
        return datum is not None and policies.allows(
            request, self.rule, datum.owner)


class AddHosts(OwnersAction):
    """The button for more hosts."""

    name = 'add_hosts'
    verbose_name = _('Add Hosts')
    url = 'horizon:project:pclouds:add_hosts'
    classes = ('ajax-modal',)
    icon = 'plus'
    rule = policies.ADD_HOST


class DeletePcloud(OwnersAction):
    """The button that leads to the question whether to delete."""

    name = 'delete'
    verbose_name = _('Delete Pcloud')
    url = 'horizon:project:pclouds:delete'
    classes = ('ajax-modal', 'btn-danger')
    rule = policies.DELETE


def _free_hosts(pcloud: resources.Pcloud) -> str | None:
    if pcloud.host_count is None:
        return None
    if not pcloud.free or not pcloud.host_count:
        return str(pcloud.host_count)
    return gettext('%(count)d (%(empty)d empty)') % {
        'count': pcloud.host_count, 'empty': pcloud.free['hosts']}


def _free_vcpus(pcloud: resources.Pcloud) -> int | None:
    return shown.free(pcloud, 'vcpus')


def _free_memory(pcloud: resources.Pcloud) -> str | None:
    free = shown.free(pcloud, 'memory_mb')
    return None if free is None else shown.memory(free)


def _shared(pcloud: resources.Pcloud) -> str | None:
    if pcloud.tenants is None:
        return gettext('lent to you')
    others = len(set(pcloud.tenants) - {pcloud.owner})
    if not others:
        return gettext('yours alone')
    return ngettext('shared with %d project', 'shared with %d projects',
                    others) % others


def _name(pcloud: resources.Pcloud) -> str:
    return format_html(
        '<a href="{}">{}</a>', pages.address(pcloud.id), pcloud.name)


def twins(pclouds: Iterable[resources.Pcloud]) -> set[str]:
    """Return the names that several Pclouds have."""
    names = collections.Counter(pcloud.name for pcloud in pclouds)
    return {name for name, number in names.items() if number > 1}


def _title(pcloud: resources.Pcloud) -> str:
    """Return the name of a twin, with what tells the twin apart."""
    return format_html(
        '{} <code class="pcloud-small" title="{}">{}…</code>', _name(pcloud),
        pcloud.id, pcloud.id[:8])


class PcloudsTable(stacked.StackedTable):
    """Pclouds, with what is free in each Pcloud that is one's own."""

    name = tables.WrappingColumn(_name, verbose_name=_('Name'))
    hosts = tables.Column(_free_hosts, verbose_name=_('Hosts'))
    vcpus = tables.Column(_free_vcpus, verbose_name=_('Free vCPUs'))
    memory = tables.Column(_free_memory, verbose_name=_('Free Memory'))
    servers = tables.Column('servers', verbose_name=_('Instances'))
    units = tables.Column('units', verbose_name=_('Units'))
    shared = tables.Column(_shared, verbose_name=_('Shared'))

    class Meta:
        name = 'pclouds'
        verbose_name = _('Pclouds')
        hidden_title = True
        css_classes = stacked.CSS
        multi_select = False
        table_actions = (CreatePcloud,)
        row_actions = (LaunchHere, AddHosts, DeletePcloud)

    def tell_apart(self, names: set[str]) -> None:
        """Show beside some names how their ids begin."""
        self.columns['name'].transform = lambda pcloud: (
            _title if pcloud.name in names else _name)(pcloud)
