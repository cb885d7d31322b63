# SPDX-License-Identifier: Apache-2.0

"""The addresses of the panel of all Pclouds."""

from django import urls

from pcloud_dashboard.admin import default_views
from pcloud_dashboard.admin import pcloud_views
from pcloud_dashboard.admin import policy_views
from pcloud_dashboard.admin import usage_views
from pcloud_dashboard.admin import waiting_views

urlpatterns = [
    urls.path('', pcloud_views.IndexView.as_view(), name='index'),
    urls.path('findings', pcloud_views.FindingsView.as_view(),
              name='findings'),
    urls.path('usage', usage_views.UsagesView.as_view(), name='usage'),
    urls.path('waiting', waiting_views.WaitingView.as_view(),
              name='waiting'),
    urls.path('policies', policy_views.IndexView.as_view(),
              name='policies'),
    urls.path('policies/set', policy_views.SetView.as_view(),
              name='set_policy'),
    urls.path('policies/set-default', default_views.SetView.as_view(),
              name='set_default'),
    urls.path('policies/delete', policy_views.DeleteView.as_view(),
              name='delete_policy'),
    urls.path('quotas', pcloud_views.AnyQuotaView.as_view(), name='any_quota'),
    urls.path('quotas/<str:project_id>', pcloud_views.QuotaView.as_view(),
              name='quota'),
]
