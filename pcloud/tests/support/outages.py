# SPDX-License-Identifier: Apache-2.0


"""Parts of the cloud that do not answer for a while."""

from __future__ import annotations

import dataclasses
import hashlib
import threading
from urllib import parse

import fixtures
from keystoneauth1 import exceptions as ks_exc
from kombu import exceptions as kombu_exc
from neutronclient.common import exceptions as neutron_exc
from nova import conf as nova_conf
from nova import context as nova_context
from nova.db.main import api as main_db
from nova import exception as nova_exception
from nova import objects
from nova.tests.fixtures import notifications
from nova import utils
from oslo_db import exception as db_exc
from oslo_messaging.rpc import client as rpc_client
import sqlalchemy as sa

CONF = nova_conf.CONF


def cell_engine(cell: objects.CellMapping) -> sa.Engine:
    """Return the engine of a cell's database."""
    with nova_context.target_cell(
            nova_context.get_admin_context(), cell) as context:
        return main_db.get_engine(context=context)


class SilentDatabase(fixtures.Fixture):
    """A database refuses every statement."""

    def __init__(self, engine: sa.Engine):
        super().__init__()
        self._engine = engine

    def _setUp(self):
        what = self._engine, 'before_cursor_execute', self._refuse
        sa.event.listen(*what)
        self.addCleanup(sa.event.remove, *what)

    @staticmethod
    def _refuse(*args):
        raise db_exc.DBConnectionError()


class SilentCell(SilentDatabase):
    """The database of a cell refuses every statement."""

    def __init__(self, cell: objects.CellMapping):
        super().__init__(cell_engine(cell))


class SilentPlacement(fixtures.Fixture):
    """Placement cannot be reached.

    :param client: the keystoneauth adapter that calls Placement
    """

    def __init__(self, client):
        super().__init__()
        self._client = client

    def _setUp(self):
        self.useFixture(fixtures.MockPatchObject(
            self._client, 'request', self._refuse))

    @staticmethod
    def _refuse(url, method, **options):
        raise ks_exc.ConnectFailure(f'{method} {url}: connection refused')


class SilentBroker(fixtures.Fixture):
    """The thread that sets the fixture up cannot reach the broker.

    All other threads are services of the cloud. Notifications get lost:
    oslo.messaging logs the loss, and raises no error.

    :ivar endless: RPC methods and notifications that oslo.messaging would
        retry until the broker is back, which holds for each RPC call
    """

    def _setUp(self):
        self.endless: list[str] = []
        self._thread = threading.get_ident()
        for method in 'cast', 'call':
            self._replace(rpc_client._BaseCallContext, method, self._sending)
        for notifier in (notifications.FakeNotifier,
                         notifications.FakeVersionedNotifier):
            self._replace(notifier, '_notify', self._notifying)

    def _replace(self, holder, name, make):
        self.useFixture(fixtures.MockPatchObject(
            holder, name, make(getattr(holder, name))))

    def _sending(self, send):
        def sent(caller, context, method, **arguments):
            if threading.get_ident() != self._thread:
                return send(caller, context, method, **arguments)
            self._note(method, None if send.__name__ == 'call'
                       else caller.retry)
            # The error in a process that has no connection yet.
            raise kombu_exc.OperationalError(f'{method}: connection refused')
        return sent

    def _notifying(self, notify):
        def notified(notifier, priority, context, event_type, payload):
            if threading.get_ident() != self._thread:
                return notify(notifier, priority, context, event_type,
                              payload)
            # An option of Nova limits the retries of Nova's notifications.
            if event_type.startswith('pcloud.'):
                self._note(event_type, notifier.retry)
        return notified

    def _note(self, what: str, retry: int | None) -> None:
        if retry is None or retry < 0:
            self.endless.append(what)


class Keystone(fixtures.Fixture):
    """Keystone knows every project, in one domain."""

    def _setUp(self):
        original = utils.get_ksa_adapter

        def adapter(service_type, *arguments, **options):
            if service_type != 'identity':
                return original(service_type, *arguments, **options)
            return self

        self.useFixture(fixtures.MockPatchObject(
            utils, 'get_ksa_adapter', adapter))

    def get(self, url: str) -> _Project | _List:
        """Return Keystone's answer about a project, or about a name."""
        return about(url)


class SmallKeystone(Keystone):
    """Keystone knows a few projects and domains.

    :param urls: what Keystone knows, such as "/domains/d1"
    """

    def __init__(self, *urls: str) -> None:
        super().__init__()
        self._urls = urls

    def get(self, url):
        """Return Keystone's answer about a project or a domain."""
        return _Project(url.rsplit('/', 1)[1],
                        200 if url in self._urls else 404)


@dataclasses.dataclass(frozen=True)
class _Project:
    """Keystone's answer about a project, or about a domain."""

    id: str
    status_code: int = 200

    def json(self) -> dict:
        """Return the body."""
        return {'project': {'id': self.id, 'domain_id': 'default'},
                'domain': {'id': self.id}}


def about(url: str) -> _Project | _List:
    """Return the answer of a Keystone that knows every project.

    Of projects with a name there is one in each domain; a list of all is cut.
    """
    address = parse.urlsplit(url)
    wanted = dict(parse.parse_qsl(address.query))
    if address.path not in ('/projects', '/domains'):
        return _Project(url.rsplit('/', 1)[1])
    return _List(address.path[1:], [{
        'id': named(wanted['name']), 'name': wanted['name'],
        'domain_id': wanted.get('domain_id')}] if 'name' in wanted else [])


def named(name: str) -> str:
    """Return the id of the project with a name, whatever the domain."""
    return hashlib.md5(name.encode(), usedforsecurity=False).hexdigest()


class NamingKeystone(Keystone):
    """Keystone knows projects and domains by their names.

    :ivar projects: ``(domain, name) -> id``
    :ivar domains: ``name -> id``
    :ivar status: the status of all answers
    :ivar asked: the URLs that Keystone was asked for
    :ivar page: the number of records in a page
    """

    def __init__(self) -> None:
        super().__init__()
        self.projects: dict[tuple[str, str], str] = {}
        self.domains: dict[str, str] = {}
        self.status = 200
        self.asked: list[str] = []
        self.page = 1000

    def get(self, url):
        """Return Keystone's answer; letter case of names does not count."""
        self.asked.append(url)
        address = parse.urlsplit(url)
        if address.path.count('/') == 2:
            return about(url)
        wanted = dict(parse.parse_qsl(address.query))
        start = int(wanted.pop('marker', 0))
        wanted.pop('limit')
        records = [
            {'id': its, 'name': name, 'domain_id': domain}
            for (domain, name), its in self.projects.items()
        ] if address.path == '/projects' else [
            {'id': its, 'name': name} for name, its in self.domains.items()]
        found = [record for record in records if all(
            str(record.get(name)).casefold() == value.casefold()
            for name, value in wanted.items())]
        end = start + self.page
        return _List(
            address.path[1:], found[start:end], None if end >= len(found) else
            f'{address.path}?' + parse.urlencode(
                {**wanted, 'limit': self.page, 'marker': end}), self.status)


class ListingKeystone(SmallKeystone):
    """Keystone knows a few projects and domains, and lists them.

    :param urls: what Keystone knows, such as "/domains/d1"
    :ivar listed: what Keystone lists; everything by default
    :ivar status: the status of all answers, None for the right one
    :ivar asked: the URLs that Keystone was asked for
    :ivar page: the number of records in a page
    """

    def __init__(self, *urls: str) -> None:
        super().__init__(*urls)
        self.listed = urls
        self.status: int | None = None
        self.asked: list[str] = []
        self.page = 100

    def get(self, url):
        """Return Keystone's answer about a project, a domain or all."""
        self.asked.append(url)
        if self.status is not None:
            return _Project(url, self.status)
        if url.count('/') == 2:
            return super().get(url)
        start, _, query = url.partition('?')
        marker = query.partition('marker=')[2]
        ids = sorted(each.rsplit('/', 1)[1] for each in self.listed
                     if each.startswith(f'{start}/'))
        ids = [each for each in ids if each > marker]
        return _List(start[1:], [{'id': each} for each in ids[:self.page]],
                     f'{start}?limit={self.page}&marker={ids[self.page - 1]}'
                     if ids[self.page:] else None)


@dataclasses.dataclass(frozen=True)
class _List:
    """Keystone's answer about all projects, or about all domains."""

    name: str
    records: list[dict]
    following: str | None = None
    status_code: int = 200

    def json(self) -> dict:
        """Return the body."""
        return {self.name: self.records, 'links': {'next': self.following}}


class GrantingKeystone(Keystone):
    """Keystone knows users with roles, and [service_user] may ask.

    :ivar roles: ``(user, project) -> names of roles``, for users who have
        other roles than those of members in all projects
    :ivar disabled: what is disabled, such as "/users/alice"
    :ivar asked: the URLs that Keystone was asked for
    :ivar status: the status of all answers
    """

    def __init__(self) -> None:
        super().__init__()
        self.roles: dict[tuple[str, str], tuple[str, ...]] = {}
        self.disabled: set[str] = set()
        self.asked: list[str] = []
        self.status = 200

    def _setUp(self):
        super()._setUp()
        CONF.set_override('auth_type', 'none', 'service_user')
        self.addCleanup(CONF.clear_override, 'auth_type', 'service_user')

    def get(self, url):
        """Return Keystone's answer about a record, or about roles."""
        self.asked.append(url)
        address = parse.urlsplit(url)
        if address.path == '/role_assignments':
            query = dict(parse.parse_qsl(address.query))
            who = query['user.id'], query['scope.project.id']
            return _Answer({'role_assignments': [
                {'role': {'id': name * 2, 'name': name}}
                for name in self.roles.get(who, ('reader', 'member'))]},
                self.status)
        if address.path.count('/') == 1:
            # A list may be cut: each record is there when it is asked for.
            return _Answer({address.path[1:]: [], 'links': {'next': None}},
                           self.status)
        _, kinds, its = url.split('/')
        return _Answer({kinds.removesuffix('s'): {
            'id': its, 'domain_id': 'default',
            'enabled': url not in self.disabled}}, self.status)


@dataclasses.dataclass(frozen=True)
class _Answer:
    """An answer of Keystone."""

    body: dict
    status_code: int

    def json(self) -> dict:
        """Return the body."""
        return self.body


class SilentKeystone(Keystone):
    """Keystone cannot be reached."""

    def get(self, url):
        """Raise the error of a refused connection."""
        raise ks_exc.ConnectFailure(f'GET {url}: connection refused')


class FailingNeutron(fixtures.Fixture):
    """Neutron answers with an error where Nova asks for extensions.

    :param neutron: Nova's fake Neutron
    :param network_api: Nova's access to Neutron
    """

    def __init__(self, neutron, network_api):
        super().__init__()
        self._neutron, self._network_api = neutron, network_api

    def _setUp(self):
        # Nova asks once in a while.
        self.useFixture(fixtures.MockPatchObject(
            self._network_api, 'last_neutron_extension_sync', 0))
        self.useFixture(fixtures.MockPatchObject(
            self._neutron, 'list_extensions', self._refuse))

    @staticmethod
    def _refuse(*arguments, **options):
        raise neutron_exc.ServiceUnavailable('no backend')


class SilentGlance(fixtures.Fixture):
    """Glance cannot be reached.

    :param glance: Nova's fake Glance
    """

    def __init__(self, glance):
        super().__init__()
        self._glance = glance

    def _setUp(self):
        for method in 'show', 'detail', 'download':
            self.useFixture(fixtures.MockPatchObject(
                self._glance, method, self._refuse))

    @staticmethod
    def _refuse(*arguments, **options):
        raise nova_exception.GlanceConnectionFailed(
            server='glance', reason='connection refused')
