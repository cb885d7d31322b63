# SPDX-License-Identifier: Apache-2.0

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
