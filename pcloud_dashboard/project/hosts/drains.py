# SPDX-License-Identifier: Apache-2.0

"""What a drain of a host would do, in words."""

from collections.abc import Mapping
import typing

from django.utils.translation import gettext as _

from pcloud_dashboard import shown
from pcloud_dashboard.words import reasons


def forecast(drain: Mapping[str, typing.Any],
             names: Mapping[str, str]) -> list[str]:
    """Return what would become of each server of a host, a sentence each.

    :param drain: as in the answer of the API to a dry run
    :param names: the names of servers, by id
    """
    if drain.get('remaining') is None:
        return [_('Which instances are on the host is not known while a '
                  'part of the cloud does not answer.')]
    hosts = {move['server']: move['host'] for move in drain.get('moves', ())}
    why = {each['server']: reasons.of_body(each)
           for each in drain.get('blockers') or ()}
    return shown.stuck(drain) + ([
        _sentence(shown.ShownServer(each, names.get(each)), hosts.get(each),
                  why.get(each)) for each in drain['remaining']
    ] or [_('The host is empty.')])


def _sentence(server: shown.ShownServer, host: str | None,
              reason: str | None) -> str:
    if host is not None:
        return _('%(server)s moves, for example to %(host)s.') % {
            'server': server, 'host': host}
    if reason is not None:
        return _('%(server)s stays: %(reason)s') % {
            'server': server, 'reason': reason}
    return _('%s stays until you move or delete it.') % server
