# SPDX-License-Identifier: Apache-2.0

"""Tests of the dashboard without a cloud and without a browser.

Django needs its settings before a module of the dashboard is imported, and
its tests need a database, which is in memory.
"""

import os

import django
from django.test import utils

os.environ['DJANGO_SETTINGS_MODULE'] = (
    'pcloud.tests.dashboard.unit.settings')
django.setup()
utils.setup_test_environment()
