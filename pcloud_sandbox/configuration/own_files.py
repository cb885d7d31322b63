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


"""The files of Pcloud that are no modules."""

import pathlib

import pcloud
from pcloud_sandbox.configuration import paste

HINT_DEFINITIONS = 'etc/pcloud/metadefs/compute-pcloud-hints.json'


def path(name: str) -> pathlib.Path:
    """Return the path of a file: in a source tree, or installed.

    :param name: relative to the source tree
    :raises: `FileNotFoundError` when the distribution has no such file
    """
    beside = pathlib.Path(pcloud.__file__).parents[1] / name
    if beside.exists():
        return beside
    return paste.installed('openstack-pcloud', name)
