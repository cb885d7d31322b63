# SPDX-License-Identifier: Apache-2.0

"""The exceptions of a cloud of which a part is away."""

from keystoneauth1 import exceptions as ks_exc
from neutronclient.common import exceptions as neutron_exc
from nova import exception as nova_exception
from oslo_db import exception as db_exc
import oslo_messaging as messaging
from sqlalchemy import exc as sa_exc

from pcloud import exception

# SQLAlchemy raises these when the first connection of a process is lost
# while the connection is being set up. Pcloud itself raises neither.
FIRST_CONNECTION = (sa_exc.ResourceClosedError, NotImplementedError)

# A database that cannot be reached. oslo.db does not translate all of them.
DATABASE = (
    db_exc.DBConnectionError, db_exc.DBDeadlock, sa_exc.OperationalError,
    sa_exc.TimeoutError, *FIRST_CONNECTION)

# Any part of the cloud.
# MariaDB: the characters of two texts cannot be compared.
_INCOMPARABLE = 1267

ANY = (
    exception.PcloudError, db_exc.DBError, sa_exc.SQLAlchemyError,
    ks_exc.ClientException, messaging.MessagingException,
    # Nova asks Neutron before Nova moves a server.
    neutron_exc.NeutronClientException, nova_exception.NovaException,
    *FIRST_CONNECTION)


def is_outage(error: Exception) -> bool:
    """Whether one of `DATABASE` comes from a database that is away.

    MariaDB reports a text that the database cannot compare like a connection
    that is lost.
    """
    cause = getattr(error, 'orig', None) or error
    return cause.args[:1] != (_INCOMPARABLE,)
