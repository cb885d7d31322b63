# SPDX-License-Identifier: Apache-2.0

"""What Django does with the package when Horizon starts."""

import pathlib

from django import apps
from django.conf import settings

_CONF = pathlib.Path(__file__).parent / 'conf'


class DashboardConfig(apps.AppConfig):
    """Tells Horizon the policies of Pcloud, and the column of instances.

    An operator with policies of their own sets POLICY_FILES['pcloud'] to the
    file that nova-api reads; whatever is set there stays.
    """

    name = 'pcloud_dashboard'
    verbose_name = 'Pcloud'

    def ready(self) -> None:
        """Set what the settings of a plugin cannot set.

        These are the files of the policies that the operator has not set, and
        the tables of the pages with the instances and the aggregates, and
        how long browsers keep the texts of scripts.
        """
        # Horizon reads these files at the first check of a policy, later
        # than here. Both paths are absolute, so that nothing is copied.
        settings.POLICY_FILES.setdefault(
            'pcloud', str(_CONF / 'pcloud_policy.yaml'))
        settings.DEFAULT_POLICY_FILES.setdefault(
            'pcloud', str(_CONF / 'default_policies' / 'pcloud.yaml'))
        # Horizon's views can be imported when all applications are there.
        from openstack_dashboard.dashboards.admin.aggregates import (
            views as aggregate_views)
        from openstack_dashboard.dashboards.project.instances import views

        from pcloud_dashboard.admin import aggregates
        from pcloud_dashboard import catalogs
        from pcloud_dashboard.project import instances
        views.IndexView.table_class = instances.InstancesTable
        _own, *others = aggregate_views.IndexView.table_classes
        aggregate_views.IndexView.table_classes = (
            aggregates.HostAggregatesTable, *others)
        catalogs.tell_apart()
