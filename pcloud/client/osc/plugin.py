# SPDX-License-Identifier: Apache-2.0

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
