# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

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
