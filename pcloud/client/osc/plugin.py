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

"""Makes Pcloud's client known to the openstack command line."""

from __future__ import annotations

import argparse
import typing

if typing.TYPE_CHECKING:
    from pcloud.client import v1

API_NAME = 'pcloud'
API_VERSION_OPTION = 'os_pcloud_api_version'
API_VERSIONS = {'1': 'pcloud.client.v1.Client'}
DEFAULT_API_VERSION = '1'


def make_client(instance: typing.Any) -> v1.Client:
    """Make the client, over the adapter of the compute service.

    :param instance: the client manager of the command line
    """
    # Every "openstack" command loads this module, and few need the client.
    from pcloud.client import v1
    return v1.Client.from_adapter(instance.sdk_connection.compute)


def build_option_parser(
        parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Return the parser of the global options, to which nothing is added."""
    return parser
