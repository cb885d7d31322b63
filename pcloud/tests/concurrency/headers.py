# SPDX-License-Identifier: Apache-2.0

"""Replaces authtoken and keystonecontext: headers name the caller."""

from nova import context

from pcloud.tests.concurrency import faults


def filter_factory(global_conf, **local_conf):
    """Make the filter (``paste.filter_factory``)."""
    def make(application):
        def serve(environ, start_response):
            faults.plan(environ)
            roles = environ['HTTP_X_ROLES'].split(',')
            environ['nova.context'] = context.RequestContext(
                user_id='someone',
                project_id=environ['HTTP_X_PROJECT_ID'],
                project_domain_id=environ.get('HTTP_X_PROJECT_DOMAIN_ID'),
                auth_token=environ.get('HTTP_X_AUTH_TOKEN'),
                is_admin='admin' in roles, roles=roles)
            return application(environ, start_response)
        return serve
    return make
