# SPDX-License-Identifier: Apache-2.0

"""Pclouds for users of openstacksdk.

A connection gets the calls of the Pcloud API as ``conn.pcloud``::

    conn = openstack.connect(cloud='mycloud')
    sdk.attach(conn)
    for pcloud in conn.pcloud.pclouds():
        print(pcloud.name, pcloud.host_count)

or by a line in ``clouds.yaml``, for programs that know nothing of Pclouds::

    vendor_hook: pcloud.sdk:attach
"""

from openstack import connection

from pcloud.sdk import proxy


def attach(conn: connection.Connection) -> proxy.Proxy:
    """Give a connection the attribute ``pcloud``, with all calls of the API.

    No request is sent. Region, interface, endpoint and microversion are those
    of ``conn.compute``.

    :returns: the proxy, which is ``conn.pcloud`` from now on
    """
    calls = conn.config.get_session_client(
        'compute', constructor=proxy.Proxy, min_version='2.1',
        max_version='2.latest')
    calls._connection = conn
    conn.pcloud = calls
    return calls
