# SPDX-License-Identifier: Apache-2.0

"""What the API says when a call is refused, without what only programs use.

The API refuses in English. The words of the errors that users meet most are
texts of the catalogues too, from where the API has them: `TEXTS`. A sentence
that is none of them is shown as the API says it.
"""

from collections.abc import Iterator
import functools
import re

from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from pcloud.client import exceptions
from pcloud import exception
from pcloud import text

# Resource class of Placement -> what people call the resource.
RESOURCES = {
    'VCPU': gettext_lazy('vCPUs'), 'PCPU': gettext_lazy('dedicated CPUs'),
    'MEMORY_MB': gettext_lazy('memory (MiB)'),
    'DISK_GB': gettext_lazy('disk (GiB)'), 'VGPU': gettext_lazy('vGPUs'),
    'hosts': gettext_lazy('hosts')}
_CLASS = re.compile(r'\b(VCPU|PCPU|MEMORY_MB|DISK_GB|VGPU)\b')
# What is in the holes of these are names, ids and numbers, or `_PHRASES`.
_ERRORS: tuple[type[exception.PcloudError], ...] = (
    exception.ComputeHostNotFound, exception.FewFreeHosts,
    exception.FlavorNotFound, exception.HostBusy, exception.HostChanged,
    exception.HostFlavorNotFound, exception.HostNameInUse,
    exception.HostNotFound, exception.HostsContended,
    exception.HostsSettling, exception.KeystoneSilent,
    exception.LimitsOutdated, exception.LimitsSilent, exception.NoFreeHost,
    exception.OthersWaiting, exception.OutcomeUnknown, exception.PcloudInUse,
    exception.PcloudNotFound, exception.PolicyForbids,
    exception.PoolHostNotFound, exception.ProjectNotFound,
    exception.ProjectUnknown, exception.QuotaExceeded,
    exception.RebalanceOutdated, exception.ReleasedHostsSettling,
    exception.ScopedPolicyNotFound, exception.TenantNotFound,
    exception.TooManyWaiting, exception.Unavailable,
    exception.WaitingNotFound)
_PHRASES = (text.IN_ZONE, text.IN_DOMAIN)
# Every sentence and phrase of the API that has translations.
TEXTS = (*(error.message for error in _ERRORS), *_PHRASES)
_HOLE = re.compile(r'%\((\w+)\)([sd])')
# Where in the body of a call the fault was; a form shows that at the field.
_PLACE = re.compile(r'^Invalid input(?: for field/attribute \S+)?[.:] ')


def resource(name: str) -> str:
    """Return what people call a resource class, or the class itself."""
    return str(RESOURCES.get(name, name))


def plain(error: exceptions.ClientError) -> str:
    """Return the words of an error of the API.

    Status, id of the request, path of an attribute and resource classes are
    for programs, and are left out.
    """
    return without_classes(translated(_PLACE.sub('', error.message)))


def without_classes(words: str) -> str:
    """Return a text that calls resources as people do."""
    return _CLASS.sub(lambda found: resource(found.group()), words)


def translated(words: str) -> str:
    """Return a sentence of the API in the language of the user.

    :returns: the sentence itself where it has no translation
    """
    language = translation.get_language() or 'en'
    return words if language.partition('-')[0] == 'en' else (
        _translated(words, TEXTS))


def _translated(words: str, texts: tuple[str, ...]) -> str:
    for each in texts:
        found = _pattern(each).fullmatch(words)
        if found:
            return _filled(_(each), found)
    return words


def _filled(template: str, found: re.Match[str]) -> str:
    """Return a translation with what was in the sentence of the API."""
    def fill(hole: re.Match[str]) -> str:
        return _translated(found[hole[1]], _PHRASES)

    return _HOLE.sub(fill, template)


@functools.cache
def _pattern(template: str) -> re.Pattern[str]:
    """Return the pattern of what the API makes of a text."""
    return re.compile(''.join(_pieces(template)))


def _pieces(template: str) -> Iterator[str]:
    """Yield the pattern of a text, piece by piece."""
    end = 0
    for hole in _HOLE.finditer(template):
        yield re.escape(template[end:hole.start()])
        amount = '.*?' if hole[2] == 's' else r'-?\d+'
        yield f'(?P<{hole[1]}>{amount})'
        end = hole.end()
    yield re.escape(template[end:])


def reference(error: Exception) -> str | None:
    """Return what the operator finds the call by; None for no such thing."""
    request_id = getattr(error, 'request_id', None)
    return request_id and _('Request %s') % request_id
