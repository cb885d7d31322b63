# SPDX-License-Identifier: Apache-2.0

"""What the API says when a call is refused, without what only programs use."""

import re

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from pcloud.client import exceptions

# Resource class of Placement -> what people call the resource.
RESOURCES = {
    'VCPU': gettext_lazy('vCPUs'), 'PCPU': gettext_lazy('dedicated CPUs'),
    'MEMORY_MB': gettext_lazy('memory (MiB)'),
    'DISK_GB': gettext_lazy('disk (GiB)'), 'VGPU': gettext_lazy('vGPUs'),
    'hosts': gettext_lazy('hosts')}
_CLASS = re.compile(r'\b(VCPU|PCPU|MEMORY_MB|DISK_GB|VGPU)\b')
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
    return without_classes(_PLACE.sub('', error.message))


def without_classes(text: str) -> str:
    """Return a text that calls resources as people do."""
    return _CLASS.sub(lambda found: resource(found.group()), text)


def reference(error: Exception) -> str | None:
    """Return what the operator finds the call by; None for no such thing."""
    request_id = getattr(error, 'request_id', None)
    return request_id and _('Request %s') % request_id
