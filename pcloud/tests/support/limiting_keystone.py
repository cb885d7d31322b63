# SPDX-License-Identifier: Apache-2.0

"""A Keystone that keeps limits of units, for clouds of one process."""

from urllib import parse

from keystoneauth1 import exceptions as ks_exc
from nova import conf

from pcloud.backend import unified_limits
from pcloud.tests.support import outages

CONF = conf.CONF

# What is asked for limits alone.
_KINDS = ('services', 'endpoints', 'registered_limits', 'limits')
_SERVICE, _REGION = 'f' * 32, 'RegionOne'


class _Answer:
    status_code = 200

    def __init__(self, **body):
        self._body = body

    def json(self):
        """Return the body."""
        return self._body


class LimitingKeystone(outages.Keystone):
    """Keystone knows limits, every project, and the domains of projects.

    :param other: a Keystone that answers all other calls
    :ivar model: the model of limits
    :ivar registered: the registered limit, None for none
    :ivar projects: ``project id -> limit``
    :ivar domains: ``domain id -> limit``
    :ivar members: ``project id -> domain id``
    :ivar away: whether Keystone does not answer about limits
    :ivar asked: the URLs that Keystone was asked for
    :ivar page: the number of projects in a page
    """

    def __init__(self, registered=0, other=None):
        super().__init__()
        self._other = other or outages.NamingKeystone()
        self.model = 'flat'
        self.registered = registered
        self.projects = {}
        self.domains = {}
        self.members = {}
        self.away = False
        self.asked = []
        self.page = 2

    def _setUp(self):
        super()._setUp()
        for option, value, group in (
                ('quota_driver', 'unified', 'pcloud'),
                ('auth_type', 'none', 'oslo_limit'),
                ('endpoint_id', None, 'oslo_limit'),
                ('endpoint_service_type', 'compute', 'oslo_limit')):
            CONF.set_override(option, value, group)
            self.addCleanup(CONF.clear_override, option, group)
        unified_limits.forget()
        self.addCleanup(unified_limits.forget)

    def get(self, url):
        """Return Keystone's answer."""
        self.asked.append(url)
        address = parse.urlsplit(url)
        wanted = dict(parse.parse_qsl(address.query))
        kind = address.path[1:].split('/')[0]
        if self.away and kind in _KINDS:
            raise ks_exc.ConnectFailure('away')
        if kind == 'services':
            return _Answer(services=[{'id': _SERVICE}])
        if kind == 'endpoints':
            return _Answer(endpoints=[{
                'service_id': wanted['service_id'], 'region_id': _REGION}])
        if address.path == '/limits/model':
            return _Answer(model={'name': self.model})
        if kind in ('registered_limits', 'limits'):
            return self._limits(kind, wanted)
        if kind == 'projects' and 'domain_id' in wanted and (
                'name' not in wanted):
            return self._members(wanted)
        if self.members and address.path.startswith('/projects/'):
            project = address.path.rsplit('/', 1)[1]
            return _Answer(project={
                'id': project,
                'domain_id': self.members.get(project, 'default')})
        return self._other.get(url)

    def _limits(self, kind, wanted):
        assert wanted['resource_name'] == unified_limits.RESOURCE
        assert wanted['service_id'] == _SERVICE
        its = self.registered if kind == 'registered_limits' else (
            self.domains if 'domain_id' in wanted else self.projects).get(
                wanted.get('domain_id', wanted.get('project_id')))
        value = ('default_limit' if kind == 'registered_limits'
                 else 'resource_limit')
        return _Answer(**{kind: [] if its is None else [
            {value: its, 'region_id': wanted['region_id']}]})

    def _members(self, wanted):
        its = [{'id': project} for project, domain in self.members.items()
               if domain == wanted['domain_id']]
        start = int(wanted.get('marker', 0))
        more = start + self.page < len(its)
        return _Answer(
            projects=its[start:start + self.page],
            links={'next': '/projects?' + parse.urlencode(
                {**wanted, 'marker': start + self.page}) if more else None})
