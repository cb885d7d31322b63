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

"""Horizon with the settings of a sandbox.

Horizon reads ``local/local_settings.py`` and ``local/enabled`` from its own
package. The package is shared by all sandboxes of the machine, so a sandbox
has a folder ``local`` of its own that is found first.
"""

import os
import pathlib
import sys
import typing


def use(folder: pathlib.Path | str) -> None:
    """Have Horizon, which is loaded later, read the folder of a sandbox.

    :param folder: the folder with ``local``
    """
    # Horizon imports ``local.local_settings`` by this short name.
    sys.path.insert(0, str(folder))
    os.environ['DJANGO_SETTINGS_MODULE'] = 'openstack_dashboard.settings'
    from openstack_dashboard.local import enabled
    enabled.__path__.append(str(pathlib.Path(folder, 'local', 'enabled')))


def application() -> typing.Any:
    """Return Horizon as a WSGI application that serves its files too."""
    from django.contrib.staticfiles import handlers
    from django.core import wsgi
    return handlers.StaticFilesHandler(wsgi.get_wsgi_application())
