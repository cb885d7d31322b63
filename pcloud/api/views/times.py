# SPDX-License-Identifier: Apache-2.0

"""How a time is shown."""

import datetime

from oslo_utils import timeutils


def shown(when: datetime.datetime | None) -> str | None:
    """Return a time in ISO 8601 and UTC; None where there is none."""
    return None if when is None else (
        timeutils.normalize_time(when).isoformat() + 'Z')


def shown_seconds(when: int | None) -> str | None:
    """Return a time, in seconds since the epoch, as `shown` does."""
    return None if when is None else shown(
        datetime.datetime.fromtimestamp(when, datetime.UTC))
