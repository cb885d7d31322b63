# SPDX-License-Identifier: Apache-2.0

"""How failures reach a user, through both command lines and the client."""

import ddt

from pcloud.client import exceptions
from pcloud.client import v1
from pcloud.tests.unit.client import base

FARM = f'/os-pclouds/{base.PCLOUD_ID}'
MESSAGE = 'Pcloud farm has 2 hosts; remove them first'
NO_SUCH_ROUTE = {'status_code': 404, 'json': {
    'message': 'The resource could not be found.<br /><br />\n\n\n',
    'code': '404 Not Found', 'title': 'Not Found'}}
NOT_ENABLED = 'The Pcloud extension is not enabled in this cloud'

# A body that tells of a failure, and what a user must be told of it.
SHAPES = (
    ({'json': {'conflictingRequest': {'code': 409, 'message': MESSAGE}}},
     MESSAGE),
    ({'json': {'error': {'code': 409, 'title': 'Conflict',
                         'message': MESSAGE}}}, MESSAGE),
    ({'json': {'errors': [{'status': 409, 'title': 'Conflict',
                           'detail': MESSAGE}]}}, MESSAGE),
    ({'json': {'errors': [{'detail': 'one'}, {'detail': 'two'}]}},
     'one; two'),
    ({'json': {'message': f'{MESSAGE}<br /><br />\n\n', 'title': 'C'}},
     MESSAGE),
    ({'json': {'error': MESSAGE}}, MESSAGE),
    ({'json': [MESSAGE]}, MESSAGE),
    ({'json': MESSAGE}, MESSAGE),
    ({'json': {'conflictingRequest': {'message': 'two\nlines\n'}}},
     'two lines'),
    ({'json': {}}, 'Because'),
    ({'json': []}, 'Because'),
    ({'json': None}, 'Because'),
    ({'json': 7}, 'Because'),
    ({'json': {'error': None}}, 'Because'),
    ({'json': {'error': {'message': None, 'code': 409}}}, 'Because'),
    ({'json': {'message': {'of': ['some', 'kind']}}}, 'some; kind'),
    ({'text': f'<html><body><h1>Conflict</h1><p>{MESSAGE}</p></body></html>'},
     f'Conflict {MESSAGE}'),
    ({'text': MESSAGE}, MESSAGE),
    ({'text': ''}, 'Because'),
    ({'content': b'\xff\xfe\x00{'}, '(HTTP 409)'),
)


@ddt.ddt
class TestShapes(base.CloudTestCase):
    """Whatever a body looks like, it makes one line and no traceback."""

    @ddt.idata(SHAPES)
    @ddt.unpack
    def test_shape(self, answer, told):
        self.answer_farm()
        self.answer('GET', FARM, json={'pcloud': base.PCLOUD})
        self.answer('DELETE', FARM, status_code=409, reason='Because',
                    headers={'x-openstack-request-id': 'req-1'}, **answer)

        for result in (self.openstack('pcloud', 'delete', base.PCLOUD_ID),
                       self.openstack('pcloud', 'delete', 'farm'),
                       self.nova('pcloud-delete', 'farm')):
            self.assert_one_line(told, result)
            self.assertTrue(result.err.endswith(
                '(HTTP 409) (Request-ID: req-1)\n'), result.err)

    def test_a_body_too_deep_to_read(self):
        # novaclient itself cannot read this one.
        self.answer('GET', '/os-host-flavors', status_code=500,
                    text='[' * 100000)

        result = self.openstack('host', 'flavor', 'list')

        self.assert_one_line('[[[... (HTTP 500)', result)

    def test_nova_names_the_kind_of_error(self):
        self.answer_farm()
        self.answer('DELETE', FARM, status_code=409, json={})

        result = self.nova('pcloud-delete', 'farm')

        self.assert_one_line('ERROR (Conflict): ', result)

    def test_debug_shows_the_traceback(self):
        self.answer_farm()
        self.answer('DELETE', FARM, status_code=409, json={})

        result = self.openstack('--debug', 'pcloud', 'delete', 'farm')

        self.assertIn('Traceback', result.err)


@ddt.ddt
class TestKinds(base.CloudTestCase):
    """What the client raises."""

    def setUp(self):
        super().setUp()
        self.client = v1.Client(self.session())

    @ddt.data((400, exceptions.BadRequest), (401, exceptions.Unauthorized),
              (403, exceptions.Forbidden), (404, exceptions.NotFound),
              (409, exceptions.Conflict), (413, exceptions.ClientError),
              (500, exceptions.ClientError), (503, exceptions.ClientError))
    @ddt.unpack
    def test_kind(self, status, kind):
        self.answer_farm()
        self.answer('GET', FARM, status_code=status, json={
            'error': {'message': 'words'}},
            headers={'x-compute-request-id': 'req-2'})

        error = self.assertRaises(exceptions.ClientError,
                                  self.client.get_pcloud, base.PCLOUD_ID)

        self.assertIs(kind, type(error))
        self.assertEqual(('words', status, 'req-2'),
                         (error.message, error.status, error.request_id))

    @ddt.data({'text': 'hello'}, {'json': []}, {'json': {'server': {}}},
              {'json': {'pcloud': None}}, {'text': ''},
              {'json': {'pcloud': {'id': base.PCLOUD_ID}}})
    def test_a_success_that_makes_no_sense(self, answer):
        self.answer('GET', FARM, **answer)

        self.assertRaises(exceptions.UnexpectedResponse,
                          self.client.get_pcloud, base.PCLOUD_ID)

    @ddt.data({'json': {'quota': {}}}, {'json': {'quota': None}},
              {'json': {'quota': {'units': {'in_use': 1}}}})
    def test_a_quota_that_makes_no_sense(self, answer):
        self.answer('GET', f'/os-pcloud-quotas/{base.PROJECT}', **answer)

        self.assertRaises(exceptions.UnexpectedResponse,
                          self.client.get_quota)


@ddt.ddt
class TestExtensionNotEnabled(base.CloudTestCase):
    """A cloud without Pclouds is told apart from an unknown id."""

    def _without_pclouds(self):
        for method in ('GET', 'POST', 'PUT', 'DELETE'):
            for path in ('/os-pclouds', FARM, '/os-host-flavors',
                         '/os-host-flavors/gold',
                         f'/os-pcloud-quotas/{base.PROJECT}'):
                self.answer(method, path, **NO_SUCH_ROUTE)

    @ddt.data('pcloud list', 'pcloud create farm', 'pcloud show farm',
              f'pcloud show {base.PCLOUD_ID}', 'pcloud delete farm',
              'pcloud quota show', 'host flavor list',
              'host flavor show gold', 'host flavor create gold --units 1',
              'host flavor delete gold')
    def test_openstack(self, command):
        self._without_pclouds()

        self.assert_one_line(NOT_ENABLED, self.openstack(*command.split()))

    @ddt.data('pcloud-list', 'pcloud-create farm', 'pcloud-show farm',
              'pcloud-quota-show', 'host-flavor-list',
              'host-flavor-show gold')
    def test_nova(self, command):
        self._without_pclouds()

        self.assert_one_line(f'ERROR (ExtensionNotEnabled): {NOT_ENABLED}',
                             self.nova(*command.split()))

    def test_an_unknown_id_is_not_found(self):
        self.answer_farm()
        self.answer('GET', '/os-host-flavors/tin', status_code=404, json={
            'itemNotFound': {'code': 404, 'message': 'no flavor tin'}})

        result = self.openstack('host', 'flavor', 'show', 'tin')

        self.assert_one_line('no flavor tin (HTTP 404)', result)
        self.assertEqual(
            [('GET', '/os-host-flavors/tin'), ('GET', '/os-pclouds')],
            [call[:2] for call in self.calls()])

    def test_asks_no_more_once_anything_was_answered(self):
        self.answer('GET', '/os-host-flavors', json={'host_flavors': []})
        self.answer('GET', FARM, status_code=404, json={})
        client = v1.Client(self.session())
        client.list_host_flavors()

        self.assertRaises(exceptions.NotFound, client.get_pcloud,
                          base.PCLOUD_ID)

        self.assertEqual(2, len(self.calls()))

    def test_is_no_kind_of_not_found(self):
        self.assertFalse(issubclass(exceptions.ExtensionNotEnabled,
                                    exceptions.NotFound))
