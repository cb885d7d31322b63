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

"""End a request that no host can be right for, and say why."""

from __future__ import annotations

from collections.abc import Iterator
import contextlib

from nova import exception as nova_exception
from nova import objects
from oslo_log import log as logging

from pcloud import exception

LOG = logging.getLogger(__name__)


@contextlib.contextmanager
def told(
    spec: objects.RequestSpec, *errors: type[exception.PcloudError],
) -> Iterator[None]:
    """Turn errors of ours into Nova's, whose reason is the server's fault.

    :param errors: those that say why there is no host; others pass on
    :raises: `nova.exception.NoValidHost`
    """
    try:
        yield
    except errors as error:
        LOG.info('No host for a server of project %(project)s: %(error)s',
                 {'project': spec.project_id, 'error': error})
        raise nova_exception.NoValidHost(reason=str(error))
