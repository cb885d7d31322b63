# SPDX-License-Identifier: Apache-2.0

"""The addresses of the panel of host flavors."""

from django import urls

from pcloud_dashboard.admin import attribute_views
from pcloud_dashboard.admin import fence_views
from pcloud_dashboard.admin import host_flavor_views
from pcloud_dashboard.admin import maintenance_views
from pcloud_dashboard.admin import map_views

_FLAVOR = '<str:flavor_id>/'

urlpatterns = [
    urls.path('', host_flavor_views.IndexView.as_view(), name='index'),
    urls.path('map', map_views.MapView.as_view(), name='map'),
    urls.path('attributes', attribute_views.IndexView.as_view(),
              name='attributes'),
    urls.path('attributes/set', attribute_views.SetView.as_view(),
              name='set_attribute'),
    urls.path('attributes/unset', attribute_views.UnsetView.as_view(),
              name='unset_attribute'),
    urls.path('create', host_flavor_views.CreateView.as_view(), name='create'),
    urls.path(_FLAVOR, host_flavor_views.DetailView.as_view(), name='detail'),
    urls.path(_FLAVOR + 'edit', host_flavor_views.EditView.as_view(),
              name='edit'),
    urls.path(_FLAVOR + 'delete', host_flavor_views.DeleteView.as_view(),
              name='delete'),
    urls.path(_FLAVOR + 'add-host', host_flavor_views.AddHostView.as_view(),
              name='add_host'),
    urls.path(_FLAVOR + 'hosts/<str:host>/maintenance',
              maintenance_views.AnnounceView.as_view(), name='announce'),
    urls.path(_FLAVOR + 'hosts/<str:host>/end-maintenance',
              maintenance_views.EndView.as_view(), name='end_maintenance'),
    urls.path(_FLAVOR + 'hosts/<str:host>/fence',
              fence_views.FenceView.as_view(), name='fence'),
    urls.path(_FLAVOR + 'hosts/<str:host>/end-fence',
              fence_views.UnfenceView.as_view(), name='unfence'),
    urls.path(_FLAVOR + 'hosts/<str:host>/remove',
              host_flavor_views.RemoveHostView.as_view(), name='remove_host'),
]
