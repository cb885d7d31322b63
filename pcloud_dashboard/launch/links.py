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

"""Buttons that open Horizon's dialog for a new server, for one Pcloud."""

import json

from django import urls

from pcloud.client import resources


def attributes(pcloud: resources.Pcloud) -> dict[str, str]:
    """Return the HTML attributes of a button that launches in a Pcloud.

    The step of the dialog reads the Pcloud from the context.
    """
    page = urls.reverse('horizon:project:pclouds:detail', args=[pcloud.id])
    context = json.dumps({'successUrl': page, 'pcloud': pcloud.id})
    return {'ng-controller': 'LaunchInstanceModalController as modal',
            'ng-click': f'modal.openLaunchInstanceWizard({context})'}
