# SPDX-License-Identifier: Apache-2.0

"""The administrator's connection to the cloud under test."""

import functools

from keystoneauth1.identity import v3
import openstack
from openstack import config
from openstack.config import cloud_region

from pcloud.tests.cloud import options
from pcloud.tests.cloud import own_cloud
from pcloud_sandbox.configuration import clouds_yaml

# Servers without a network, with tags, and without the sizes of hosts, which
# later versions of the API no longer show.
MICROVERSION = '2.87'


@functools.cache
def connect() -> openstack.connection.Connection:
    """Log in as the administrator of the cloud under test.

    :raises openstack.exceptions.ConfigException: there is no cloud of the
        name in ``OS_CLOUD``
    """
    named = options.cloud()
    if named is None:
        return log_in(own_cloud.clouds_of(own_cloud.start()),
                      clouds_yaml.cloud_name('admin'))
    return log_in(config.OpenStackConfig(), named)


def log_in(clouds: config.OpenStackConfig,
           name: str) -> openstack.connection.Connection:
    """Log in to a cloud of clouds.yaml."""
    return openstack.connection.Connection(config=clouds.get_one(
        cloud=name, compute_default_microversion=MICROVERSION))


def connect_as(user_id: str, password: str,
               project_id: str) -> openstack.connection.Connection:
    """Log in as another user of the cloud, in all else like `connect`."""
    known = connect().config
    auth = {'auth_url': known.config['auth']['auth_url'], 'user_id': user_id,
            'password': password, 'project_id': project_id}
    return openstack.connection.Connection(config=cloud_region.CloudRegion(
        name=known.name, region_name=known.region_name,
        config={**known.config, 'auth_type': 'password', 'auth': auth},
        auth_plugin=v3.Password(**auth)))
