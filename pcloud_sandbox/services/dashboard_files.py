# SPDX-License-Identifier: Apache-2.0

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
