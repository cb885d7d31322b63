# SPDX-License-Identifier: Apache-2.0

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
