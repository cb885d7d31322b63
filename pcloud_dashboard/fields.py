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

"""Fields of forms."""

import datetime
import typing

from django.utils import timezone
from horizon import forms

_FORMAT = '%Y-%m-%dT%H:%M'


class MomentField(forms.DateTimeField):
    """A moment, which the user writes in the time zone of the settings."""

    def __init__(self, **kwargs: typing.Any) -> None:
        super().__init__(
            widget=forms.DateTimeInput(
                attrs={'type': 'datetime-local'}, format=_FORMAT),
            input_formats=[_FORMAT, f'{_FORMAT}:%S'], **kwargs)


def written(moment: datetime.datetime | None) -> str | None:
    """Return a moment as the API reads moments, None for none."""
    if moment is None:
        return None
    return moment.astimezone(datetime.UTC).strftime('%Y-%m-%dT%H:%M:%SZ')


def local(moment: datetime.datetime | None) -> datetime.datetime | None:
    """Return a moment in the user's time zone, for a form, None for none."""
    return moment and timezone.localtime(moment)
