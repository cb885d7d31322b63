# SPDX-License-Identifier: Apache-2.0

import ddt
from nova.api import openstack
from nova.api.openstack import wsgi as nova_wsgi
from nova.api import wsgi as base_wsgi
import routes
import testtools
import webob

from pcloud.api.nova_calls import dispatch
from pcloud import exception


class _Kept:
    """A filter that keeps what is behind it under a name of its own."""

    def __init__(self, behind):
        self._then = behind
        self.other = self

    def __call__(self, environ, start_response):
        return self._then(environ, start_response)

    def bound(self, environ, start_response):
        return self(environ, start_response)


def _enclosed(behind):
    def application(environ, start_response):
        return behind(environ, start_response)

    return application


def _router():
    return base_wsgi.Router(routes.Mapper())


@ddt.ddt
class ChainTest(testtools.TestCase):

    @ddt.data(lambda behind: behind, _Kept, _enclosed, base_wsgi.Middleware,
              lambda behind: _Kept(behind).bound,
              lambda behind: _enclosed(_Kept(_enclosed(behind))))
    def test_whatever_is_between(self, between):
        dispatch.Reader(between(_router()))
        self.assertFalse(dispatch.is_legacy(between(_router())))
        legacy = openstack.LegacyV2CompatibleWrapper(between(_router()))
        self.assertTrue(dispatch.is_legacy(between(legacy)))

    @ddt.data(_Kept(None), _enclosed(webob.exc.HTTPNotFound()),
              base_wsgi.Middleware(webob.Response()))
    def test_nothing_of_nova_behind(self, application):
        self.assertRaisesRegex(
            exception.PcloudError, "nothing of Nova's API", dispatch.Reader,
            application)
        self.assertFalse(dispatch.is_legacy(application))

    def test_pipeline_of_one_resource_has_no_calls(self):
        reader = dispatch.Reader(nova_wsgi.Resource(None))
        request = nova_wsgi.Request.blank('/servers', method='POST')
        self.assertIsNone(reader.call(request))


@ddt.ddt
class MethodTest(testtools.TestCase):

    @ddt.unpack
    @ddt.data(('', 'PUT'), ('_method=', 'PUT'), ('_method=post', 'POST'),
              ('%5Fmethod=POST', 'PUT'), ('_method=%ff', 'PUT'),
              ('_method=GET&_method=POST', 'POST'),
              ('_method=%50OST', 'POST'), ('a=_method', 'PUT'))
    def test_query(self, query, expected):
        request = nova_wsgi.Request.blank(f'/?{query}', method='PUT')
        self.assertEqual(expected, dispatch.method(request))
        self.assertEqual('PUT', request.method)


@ddt.ddt
class PlainReadTest(testtools.TestCase):

    @ddt.unpack
    @ddt.data(
        ('GET', '', {}, True), ('GET', 'limit=1', {}, True),
        ('GET', '', {'Content-Length': '0'}, True),
        ('HEAD', '', {}, False), ('POST', '', {}, False),
        ('get', '', {}, False), ('GET', '_method=POST', {}, False),
        ('GET', 'a=_method&b', {}, False),
        ('GET', '', {'Content-Length': '2'}, False),
        ('GET', '', {'Transfer-Encoding': 'chunked'}, False))
    def test_request(self, method, query, headers, expected):
        request = nova_wsgi.Request.blank(
            f'/servers?{query}', method=method, headers=headers)
        self.assertEqual(expected, dispatch.is_plain_read(request))
