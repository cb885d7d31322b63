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

"""Horizon's settings of tests, with the panels of Pcloud."""

from openstack_dashboard import enabled as horizon_enabled
from openstack_dashboard.test.settings import *  # noqa: F401,F403,H303
from openstack_dashboard.test.settings import HORIZON_CONFIG  # noqa: H301
from openstack_dashboard.test.settings import INSTALLED_APPS  # noqa: H301
from openstack_dashboard.utils import settings as settings_utils

from pcloud_dashboard import enabled

# Horizon's own tests have no policies and no cache.
POLICY_CHECK_FUNCTION = 'openstack_auth.policy.check'
CACHES = {'default': {
    'BACKEND': 'django.core.cache.backends.locmem.LocMemCache'}}
DATABASES = {'default': {
    'ENGINE': 'django.db.backends.sqlite3', 'NAME': ':memory:'}}
INSTALLED_APPS = list(INSTALLED_APPS)
settings_utils.update_dashboards(
    [horizon_enabled, enabled], HORIZON_CONFIG, INSTALLED_APPS)
# Horizon's settings of tests have switched its own panels on before.
INSTALLED_APPS = list(dict.fromkeys(INSTALLED_APPS))
