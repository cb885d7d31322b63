# SPDX-License-Identifier: Apache-2.0

"""The addresses of the panel of owners and tenants."""

from django import urls

from pcloud_dashboard.project.head import views as head_views
from pcloud_dashboard.project.hosts import bulk
from pcloud_dashboard.project.hosts import views as host_views
from pcloud_dashboard.project import move_views
from pcloud_dashboard.project import setting_views
from pcloud_dashboard.project.tenancy import views as tenant_views
from pcloud_dashboard.project.usage import views as usage_views
from pcloud_dashboard.project import views
from pcloud_dashboard.project import waiting_views

_PCLOUD = '<uuid:pcloud_id>/'
# A host's name has no slash; the API tells which names are right.
_HOST = _PCLOUD + 'hosts/<str:name>/'

urlpatterns = [
    urls.path('', views.IndexView.as_view(), name='index'),
    urls.path('usage', usage_views.UsageView.as_view(), name='usage'),
    urls.path('create', views.CreateView.as_view(), name='create'),
    urls.path(_PCLOUD, views.DetailView.as_view(), name='detail'),
    urls.path(_PCLOUD + 'head', head_views.HeadView.as_view(), name='head'),
    urls.path(_PCLOUD + 'delete', views.DeleteView.as_view(), name='delete'),

    urls.path(_PCLOUD + 'add-hosts', host_views.AddHostsView.as_view(),
              name='add_hosts'),
    urls.path(_PCLOUD + 'progress', host_views.ProgressView.as_view(),
              name='progress'),
    urls.path(_PCLOUD + 'several', bulk.BulkView.as_view(), name='bulk'),
    urls.path(_PCLOUD + 'drain-hosts', bulk.DrainHostsView.as_view(),
              name='drain_hosts'),
    urls.path(_PCLOUD + 'remove-hosts', bulk.RemoveHostsView.as_view(),
              name='remove_hosts'),
    urls.path(_PCLOUD + 'help', host_views.ChangeView.as_view(),
              name='change'),
    urls.path(_PCLOUD + 'move', move_views.BeginView.as_view(),
              name='move'),
    urls.path(_PCLOUD + 'end-moves', move_views.EndView.as_view(),
              name='end_moves'),
    urls.path(_HOST + 'state', host_views.StateView.as_view(),
              name='state'),
    urls.path(_HOST + 'drain', host_views.DrainView.as_view(),
              name='drain'),
    urls.path(_HOST + 'remove', host_views.RemoveView.as_view(),
              name='remove_host'),

    urls.path(_PCLOUD + 'waiting/<uuid:entry_id>/cancel',
              waiting_views.CancelView.as_view(), name='cancel_waiting'),

    urls.path(_PCLOUD + 'tenants/add', tenant_views.AddView.as_view(),
              name='add_tenant'),
    urls.path(_PCLOUD + 'tenants/<str:project_id>/caps',
              tenant_views.CapsView.as_view(), name='cap_tenant'),
    urls.path(_PCLOUD + 'tenants/<str:project_id>/remove',
              tenant_views.RemoveView.as_view(), name='remove_tenant'),

    urls.path(_PCLOUD + 'edit', setting_views.EditView.as_view(),
              name='edit'),
    urls.path(_PCLOUD + 'requirements',
              setting_views.RequirementsView.as_view(),
              name='requirements'),
    urls.path(_PCLOUD + 'default', setting_views.DefaultView.as_view(),
              name='default'),
    urls.path(_PCLOUD + 'no-default', setting_views.NoDefaultView.as_view(),
              name='no_default'),
]
