# SPDX-License-Identifier: Apache-2.0

"""What PasteDeploy makes of api-paste.ini, for all kinds of the file."""

import pathlib
import textwrap

import ddt
import fixtures
from nova.api import auth
from nova.api.openstack import compute
import testtools

from pcloud.cmd import api_pipelines
from pcloud_sandbox.configuration import paste

BOTH = ('openstack_compute_api_v21_legacy_v2_compatible',
        'openstack_compute_api_v21')


class Context(auth.NovaKeystoneContext):
    """The context of an operator."""


class Router(compute.APIRouterV21):
    """The API of an operator."""


class _Case(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.nova = paste.installed(
            'nova', 'etc/nova/api-paste.ini').read_text()
        self.right = paste.with_pcloud(self.nova)

    def _guarded(self, text):
        """Return section to whether Pcloud's filter is there."""
        path = self.folder / 'api-paste.ini'
        path.write_text(text)
        found = api_pipelines.of_compute(str(path))
        self.assertEqual(len(found), len({each.section for each in found}))
        return {each.section: each.is_guarded for each in found}

    def _assert(self, text, is_guarded, *others):
        self.assertEqual(dict.fromkeys((*BOTH, *others), is_guarded),
                         self._guarded(text))


@ddt.ddt
class OfComputeTest(_Case):
    """Both pipelines of Nova's own file, changed."""

    def test_right(self):
        self._assert(self.right, True)

    def test_nothing(self):
        self._assert(self.nova, False)

    def test_before_legacy(self):
        """A file may have the filter before the wrapper of version 2."""
        self._assert(self.right.replace(
            'legacy_v2_compatible pcloud', 'pcloud legacy_v2_compatible'),
            True)

    @ddt.data(
        ('keystone = cors', 'keystone = \n  cors'),
        (' authtoken keystonecontext', '\n  authtoken\n\tkeystonecontext'),
        ('keystone = cors', 'keystone: cors'),
        ('keystonecontext pcloud', 'keystonecontext\n# pcloud\n  pcloud'))
    def test_written_otherwise(self, change):
        self._assert(self.right.replace(*change), True)

    @ddt.data('nova_pcloud', 'x', 'keystone')
    def test_other_name(self, name):
        """The factory makes the filter, and not the name of the section."""
        self._assert(
            self.right.replace(' pcloud ', f' {name} ').replace(
                '[filter:pcloud]', f'[filter:{name}]'), True)

    def test_factory_in_comment(self):
        foreign = 'paste.filter_factory = nova.profiler:WsgiMiddleware.factory'
        self._assert(self.right.replace(
            'paste.filter_factory = pcloud.api:filter_factory',
            f'# pcloud.api:filter_factory\n{foreign}'), False)

    def test_similar_name(self):
        self._assert(
            self.right.replace(' pcloud ', ' pcloud-audit ') +
            '[filter:pcloud-audit]\n'
            'paste.filter_factory = keystonemiddleware.audit:filter_factory\n',
            False)

    def test_wrong_protocol(self):
        """As a ``filter_app_factory`` it would not be a filter."""
        self._assert(self.right.replace(
            'paste.filter_factory = pcloud', 'paste.filter_app_factory = '
            'pcloud'), False)

    def test_before_keystonecontext(self):
        self._assert(
            self.right.replace(' pcloud ', ' ').replace(
                ' keystonecontext', ' pcloud keystonecontext'), False)

    def test_one_of_two(self):
        self.assertEqual(
            dict(zip(BOTH, (True, False), strict=True)), self._guarded(
                self.right.replace('keystonecontext pcloud',
                                   'keystonecontext')))

    @ddt.data('occi keystonecontext', 'keystonecontext occi',
              'keystonecontext')
    def test_third(self, filters):
        """A composite that nobody thought of reaches the same API."""
        text = self.right.replace(
            '/v2.1/+:', '/occi1.1/+: occi\n/v2.1/+:') + textwrap.dedent(f'''
            [composite:occi]
            use = call:nova.api.auth:pipeline_factory_v21
            keystone = cors authtoken {filters} osapi_compute_app_v21

            [filter:occi]
            paste.filter_factory = no.such.module:OCCIMiddleware.factory
            ''')
        self.assertEqual({**dict.fromkeys(BOTH, True), 'occi': False},
                         self._guarded(text))
        self._assert(text.replace(f'{filters} osapi',
                                  f'{filters} pcloud osapi'), True, 'occi')

    def test_without_way(self):
        """What no request reaches has nothing to guard."""
        self._assert(
            self.right + '[pipeline:left]\n'
            'pipeline = keystonecontext osapi_compute_app_v21\n', True)


@ddt.ddt
class FormsTest(_Case):
    """The forms in which PasteDeploy takes a pipeline."""

    def _served(self, text, use='x'):
        """Return whether a section is guarded that nova-api serves."""
        return list(self._guarded(self.right.replace(
            '/v2.1/+: openstack_compute_api_v21\n',
            f'/v2.1/+: {use}\n').replace(
                '/v2/+: openstack_compute_api_v21_legacy_v2_compatible\n',
                '') + textwrap.dedent(text)).values())

    @ddt.data(('pcloud ', True), ('', False))
    @ddt.unpack
    def test_pipeline(self, pcloud, is_guarded):
        self.assertEqual([is_guarded], self._served(f'''
            [pipeline:x]
            pipeline = keystonecontext {pcloud}osapi_compute_app_v21
            '''))

    def test_no_pipeline(self):
        self.assertEqual([False], self._served('', 'osapi_compute_app_v21'))

    def test_filter_app(self):
        self.assertEqual([True], self._served('''
            [filter-app:x]
            paste.filter_factory = nova.api.auth:NovaKeystoneContext.factory
            next = y

            [filter-app:y]
            use = pcloud
            next = osapi_compute_app_v21
            '''))

    def test_filter_with(self):
        """The other filter is in front."""
        self.assertEqual([True, False], self._served('''
            [app:x]
            use = osapi_compute_app_v21
            filter-with = inside

            [filter:inside]
            use = pcloud
            filter-with = keystonecontext

            [app:y]
            use = osapi_compute_app_v21
            filter-with = outside

            [filter:outside]
            use = keystonecontext
            filter-with = pcloud

            [composite:z]
            use = egg:Paste#urlmap
            /y = y
            ''', 'x\n/z: z'))

    def test_filter_around_composite(self):
        self.assertEqual([True, True], self._served('''
            [pipeline:x]
            pipeline = keystonecontext pcloud y

            [composite:y]
            use = egg:Paste#urlmap
            /a = a
            /b = b

            [pipeline:a]
            pipeline = request_log osapi_compute_app_v21

            [pipeline:b]
            pipeline = sizelimit osapi_compute_app_v21
            '''))

    @ddt.data('config:other.ini#x', 'config:%(here)s/other.ini#x')
    def test_other_file(self, use):
        other = self.folder / 'other.ini'
        for pcloud, is_guarded in (('pcloud ', True), ('', False)):
            other.write_text(self.right + textwrap.dedent(f'''
                [pipeline:x]
                pipeline = keystonecontext {pcloud}osapi_compute_app_v21
                '''))
            self.assertEqual([is_guarded], self._served(f'''
                [app:z]
                use = {use}
                ''', 'z'))

    def test_defaults(self):
        self.assertEqual([True], self._served('''
            [pipeline:x]
            pipeline = %(context)s pcloud osapi_compute_app_v21

            [DEFAULT]
            context = keystonecontext
            '''))

    def test_missing_distribution(self):
        self.assertEqual([True], self._served('''
            [pipeline:x]
            pipeline = keystonecontext y pcloud osapi_compute_app_v21

            [filter:y]
            use = egg:no-such-distribution#y
            '''))

    def test_own_class(self):
        """An operator's own context and API are what they inherit."""
        self.assertEqual([True], self._served(f'''
            [pipeline:x]
            pipeline = y pcloud z

            [filter:y]
            paste.filter_factory = {__name__}:Context.factory

            [app:z]
            paste.app_factory = {__name__}:Router.factory
            '''))

    @ddt.data(
        ('[pipeline:x]\npipeline = nothing osapi_compute_app_v21\n',
         "No section 'nothing'"),
        ('[composite:x]\nuse = call:no.such:factory\n', 'no.such:factory'),
        ('[composite:x]\nuse = call:nova.api.auth:pipeline_factory_v21\n',
         'keystone'),
        ('[filter:x]\nuse = egg:nova\n', "No section 'x'"),
        ('[pipeline:x]\npipeline = %(no)s\n', 'no'),
        ('[filter:pcloud]\nuse = x\n', 'already exists'),
        ('[composite:x]\nuse = egg:Paste#urlmap\n/ = x\n', 'recursion'))
    @ddt.unpack
    def test_cannot_be_loaded(self, text, reason):
        error = self.assertRaises(Exception, self._served, text)  # noqa: H202
        self.assertIn(reason, str(error))
