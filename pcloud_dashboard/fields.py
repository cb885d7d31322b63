# SPDX-License-Identifier: Apache-2.0

"""Fields of forms."""

import datetime
import typing

from django.core import exceptions
from django.core import validators
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from horizon import forms

_FORMAT = '%Y-%m-%dT%H:%M'


class MomentField(forms.DateTimeField):
    """A moment, which the user writes in the time zone of the settings."""

    def __init__(self, **kwargs: typing.Any) -> None:
        super().__init__(
            widget=forms.DateTimeInput(
                attrs={'type': 'datetime-local'}, format=_FORMAT),
            input_formats=[_FORMAT, f'{_FORMAT}:%S'], **kwargs)


# What the API takes for a name. The unit tests compare both with the API's
# own forms.
HOST_NAME = r'(?!\.{1,2}\Z)[A-Za-z0-9._-]{1,63}'
_PRINTED = (r'[^\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff'
            '\U00010000-\U0010ffff]')
MOST_RATIO = 1024

host_name = validators.RegexValidator(
    rf'^{HOST_NAME}\Z', _(
        'A name has 1 to 63 characters: letters without accents, digits, '
        'dots, hyphens and underscores.'))


class NameField(forms.CharField):
    """The name of a Pcloud."""

    def __init__(self, **kwargs: typing.Any) -> None:
        super().__init__(max_length=255, validators=[
            validators.RegexValidator(rf'^{_PRINTED}+\Z', _(
                'A name has no control characters, and no characters beyond '
                'U+FFFF, such as emojis.'))], **kwargs)


class RatioField(forms.FloatField):
    """A ratio between what servers may have and what a host has."""

    def clean(self, value: typing.Any) -> float | None:
        """Return the ratio, None for none.

        :raises django.core.exceptions.ValidationError: for a number that is
            no ratio
        """
        ratio = super().clean(value)
        if ratio is not None and not 0 < ratio <= MOST_RATIO:
            raise exceptions.ValidationError(
                _('A ratio is more than 0, and at most %s.') % MOST_RATIO)
        return ratio


def written(moment: datetime.datetime | None) -> str | None:
    """Return a moment as the API reads moments, None for none."""
    if moment is None:
        return None
    return moment.astimezone(datetime.UTC).strftime('%Y-%m-%dT%H:%M:%SZ')


def local(moment: datetime.datetime | None) -> datetime.datetime | None:
    """Return a moment in the user's time zone, for a form, None for none."""
    return moment and timezone.localtime(moment)
