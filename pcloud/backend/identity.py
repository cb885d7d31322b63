# SPDX-License-Identifier: Apache-2.0

"""Ask Keystone about projects and domains."""

from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Mapping
import itertools
import re
import typing
from urllib import parse

from keystoneauth1 import exceptions as ks_exc
from keystoneauth1 import loading as ks_loading
from nova import context as nova_context
from nova import utils
from oslo_config import cfg
from oslo_log import log as logging
import requests

from pcloud import exception
from pcloud.rules import forms

CONF = cfg.CONF
LOG = logging.getLogger(__name__)

# Only such an id may become part of a URL.
ID = re.compile(forms.SCOPE_ID)
PROJECT, DOMAIN = 'project', 'domain'

# The number of records to ask for at a time; Keystone may give fewer.
_PAGE = 1000
# So many pages of what has a name are looked through.
PAGES = 20
# What Keystone answers about a name or an id that nothing can have.
_NOTHING = (400, 404)
# There is nobody to ask as, or nothing to ask.
_UNASKED = (ks_exc.AuthorizationFailure, ks_exc.AuthPluginException,
            ks_exc.CatalogException, ks_exc.Forbidden, ks_exc.Unauthorized)


def get(
    context: nova_context.RequestContext, url: str,
) -> requests.Response:
    """Return Keystone's answer to a ``GET``, whatever the status.

    Keystone is asked as the user of [service_user] where configured: a tenant
    may not look up other projects.

    :raises: `keystoneauth1.exceptions.ClientException`
    """
    return adapter(service_user() or context.get_auth_plugin()).get(url)


def service_user() -> typing.Any:
    """Return the credentials of [service_user], None where there are none."""
    return ks_loading.load_auth_from_conf_options(CONF, 'service_user')


def adapter(auth: typing.Any) -> typing.Any:
    """Return Keystone's API as somebody sees it.

    :param auth: the credentials
    """
    return utils.get_ksa_adapter(
        'identity', ksa_auth=auth, min_version=(3, 0),
        max_version=(3, 'latest'))


def records(
    context: nova_context.RequestContext, kind: str,
    wanted: Mapping[str, str],
) -> Iterator[Mapping[str, typing.Any]]:
    """Yield Keystone's records of some projects or domains.

    Keystone is asked as by `get`, page by page, as long as records are asked
    for, and `PAGES` times at most. Letter case of names may not count for
    Keystone's database.

    :param kind: `PROJECT` or `DOMAIN`
    :param wanted: members that the records have, such as the name
    :raises: `exception.KeystoneSilent` when Keystone does not tell
    """
    try:
        auth = service_user() or context.get_auth_plugin()
        for answer in itertools.islice(
                _answers(auth, f'{kind}s', wanted), PAGES):
            if answer.status_code in _NOTHING:
                return
            if answer.status_code != 200:
                raise _untold(
                    kind, f'it answers {answer.status_code}; the user of '
                    '[service_user] in nova.conf needs a role that lets it '
                    f'list {kind}s')
            yield from answer.json()[f'{kind}s']
    except ks_exc.ClientException as error:
        raise _untold(kind, error) from error


def _untold(kind: str, reason: object) -> exception.KeystoneSilent:
    """Return an error whose reason is for operators alone."""
    LOG.warning('Keystone does not tell which %(kind)ss there are: '
                '%(reason)s', {'kind': kind, 'reason': reason})
    return exception.KeystoneSilent()


def gone(
    context: nova_context.RequestContext, kind: str, ids: Collection[str],
) -> list[str]:
    """Return those of some projects or domains that Keystone does not know.

    Keystone is asked as the caller, who is an administrator, and where there
    is no caller as the user of [service_user]. Keystone is asked for a list,
    page by page, and then for each id that is not in the list: a list may be
    cut, or be of a single domain, or be nothing for the user to see.

    :param kind: `PROJECT` or `DOMAIN`
    :param ids: ids in the form `ID`; other ids are left out
    :returns: the ids in order; a project that is disabled is not gone
    :raises: `exception.KeystoneUnasked` when nobody may ask,
        `exception.Unavailable` when Keystone does not answer
    """
    wanted = sorted(filter(ID.fullmatch, ids))
    if not wanted:
        return []
    try:
        auth = service_user() if context.user_id is None else (
            context.get_auth_plugin())
        if auth is None:
            raise exception.KeystoneUnasked(
                reason='[service_user] in nova.conf has no auth_type')
        known = frozenset(_listed(auth, f'{kind}s'))
        return [each for each in wanted if each not in known and not _is_known(
            adapter(auth).get(f'/{kind}s/{each}'))]
    except _UNASKED as error:
        raise exception.KeystoneUnasked(reason=error) from error
    except ks_exc.ClientException as error:
        raise _silent(error) from error


def _listed(auth: typing.Any, kinds: str) -> Iterator[str]:
    """Yield the ids of the projects or domains that Keystone lists.

    :param kinds: the name of the list
    """
    for answer in _answers(auth, kinds, {}):
        if answer.status_code == 200:
            yield from (record['id'] for record in answer.json()[kinds])


def _answers(
    auth: typing.Any, kinds: str, wanted: Mapping[str, str],
) -> Iterator[requests.Response]:
    """Yield Keystone's answer about a list page by page.

    :param kinds: the name of the list
    :param wanted: members that the records of the list have
    """
    # Without a limit Keystone cuts the list and names no next page.
    url = f'/{kinds}?' + parse.urlencode({**wanted, 'limit': _PAGE})
    while url:
        answer = adapter(auth).get(url)
        yield answer
        if answer.status_code != 200:
            return
        url = answer.json().get('links', {}).get('next')


def _is_known(answer: requests.Response) -> bool:
    """Whether Keystone has found the record that Keystone was asked for."""
    if answer.status_code in (200, 404):
        return answer.status_code == 200
    error = f'Keystone has answered {answer.status_code}'
    if answer.status_code in (401, 403):
        raise exception.KeystoneUnasked(reason=error)
    raise _silent(error)


def _silent(reason: object) -> exception.Unavailable:
    return exception.Unavailable(
        f'Keystone cannot be asked at the moment: {reason}.')
