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

"""What tox says beside tox's own lines."""

import logging

from tox import plugin


@plugin.impl
def tox_on_install(tox_env, arguments, section, of_type):
    """Say how much is going to be installed, before the first time."""
    if of_type != 'package' or not tox_env.conf['extras']:
        return
    if not (tox_env.env_site_package_dir() / 'nova').exists():
        logging.warning(
            'installs an OpenStack, at this first time alone: about 80 MB to '
            'download, and up to 700 MB in %s', tox_env.env_dir)
