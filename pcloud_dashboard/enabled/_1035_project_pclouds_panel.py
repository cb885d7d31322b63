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
