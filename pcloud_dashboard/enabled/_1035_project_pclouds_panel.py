# SPDX-License-Identifier: Apache-2.0

"""Project > Compute > Pclouds, and the step of Launch Instance."""

from pcloud.client import exceptions

PANEL = 'pclouds'
PANEL_DASHBOARD = 'project'
PANEL_GROUP = 'compute'
ADD_PANEL = 'pcloud_dashboard.project.panel.Pclouds'

ADD_INSTALLED_APPS = ['pcloud_dashboard']
ADD_ANGULAR_MODULES = ['pcloud.dashboard']
ADD_JS_FILES = [
    'pcloud_dashboard/pcloud.module.js',
    'pcloud_dashboard/pages.js',
    'pcloud_dashboard/names.js',
    'pcloud_dashboard/launch/words.service.js',
    'pcloud_dashboard/launch/places.service.js',
    'pcloud_dashboard/launch/pcloud.controller.js',
]
ADD_SCSS_FILES = ['pcloud_dashboard/pcloud.scss']
ADD_EXCEPTIONS = {
    'not_found': (exceptions.NotFound,),
    'recoverable': (exceptions.ClientError,),
    'unauthorized': (exceptions.Unauthorized,),
}
EXTRA_TABS = {
    'openstack_dashboard.dashboards.project.instances.tabs.'
    'InstanceDetailTabs': ('pcloud_dashboard.project.instances.PcloudTab',),
}
