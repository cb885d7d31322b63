# SPDX-License-Identifier: Apache-2.0

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
