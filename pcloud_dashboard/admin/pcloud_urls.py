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

"""The addresses of the panel of all Pclouds."""

from django import urls

from pcloud_dashboard.admin import default_views
from pcloud_dashboard.admin import pcloud_views as views
from pcloud_dashboard.admin import policy_views

urlpatterns = [
    urls.path('', views.IndexView.as_view(), name='index'),
    urls.path('policies', policy_views.IndexView.as_view(),
              name='policies'),
    urls.path('policies/set', policy_views.SetView.as_view(),
              name='set_policy'),
    urls.path('policies/set-default', default_views.SetView.as_view(),
              name='set_default'),
    urls.path('policies/delete', policy_views.DeleteView.as_view(),
              name='delete_policy'),
    urls.path('quotas', views.AnyQuotaView.as_view(), name='any_quota'),
    urls.path('quotas/<str:project_id>', views.QuotaView.as_view(),
              name='quota'),
]
