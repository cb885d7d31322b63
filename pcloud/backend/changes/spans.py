# SPDX-License-Identifier: Apache-2.0

"""Write how long hosts are held, within the changes that join and part them.

The row of a host that is held is written with the host's membership. The
change that ends the membership adds the span to the sums of the project, by
the rates of the host flavor, and deletes the row. Nothing is lost between, and
nothing counts twice.

Rule: reference-usage-ledger
"""

from collections.abc import Iterable
import dataclasses

from oslo_utils import timeutils

from pcloud.backend.changes import writes
from pcloud import names
from pcloud.rules.usage import ledger


def now() -> int:
    """Return the present second, since the epoch."""
    return int(timeutils.utcnow_ts())


def begun(
    flavor: str, pcloud_id: str, project: str, is_free: bool,
) -> str:
    """Return the row of a host that is held from now on.

    :param flavor: the id of the host flavor
    :param project: the id of the project that owns the Pcloud
    :param is_free: whether the host counts nothing, as it stands in for
        another
    """
    return ledger.Span(
        flavor, pcloud_id, now(), free=is_free, project=project).text()


def count_from_now(
    written: writes.Rows, host: str, text: str,
) -> None:
    """Write that a host counts from now on that has counted nothing.

    :param host: the service host
    :param text: the row of the host
    """
    span = ledger.Span.known(text)
    if span is not None and span.free:
        written.exchange_kept(
            names.span_key(host), dataclasses.replace(
                span, since=now(), free=False).text())


def add_to_sums(
    written: writes.Rows, text: str | None, units: int,
) -> None:
    """Add a span that is over to the sums, and drop sums that are too old.

    At most three statements; none for a host that counts nothing. The caller
    deletes the row of the host.

    :param text: the row of the host, None for a host without a row
    :param units: what a host of the host flavor counts where no rates are kept
    """
    span = ledger.Span.known(text)
    if span is None or span.free:
        return
    prefix = names.sums_prefix(span.project, span.flavor)
    there = written.of_journal([prefix, names.rates_prefix(span.flavor)])
    end = now()
    sums = {prefix + period: (
        ledger.Sum.known(there.get(prefix + period)) or ledger.Sum()).plus(new)
        for period, new in ledger.to_keep(
            span, end, rates(there.items(), units)).items()}
    left = [key for key in there if key in sums or (
        key.startswith(prefix) and not ledger.is_kept(
            key.removeprefix(prefix), end))]
    # To delete nothing would lock a gap, and hold up other changes.
    if left:
        written.unmark(left)
    written.write_kept({
        key: sum_.text() for key, sum_ in sums.items()})


def new_rate(flavor_id: str, rate: ledger.Rate) -> dict[str, str]:
    """Return the row of what a host of a new host flavor costs."""
    return {names.rates_prefix(flavor_id) + ledger.stamp(now()): rate.text()}


def add_rate(
    written: writes.Rows, flavor_id: str, rate: ledger.Rate,
) -> None:
    """Write what a host of a host flavor costs from now on.

    At most three statements, which touch no span. A change in the same second
    takes the place of the one before, and so does one after the clock has
    gone backwards. Rates that no month needs are dropped.

    """
    there = written.of_journal([names.rates_prefix(flavor_id)])
    moments = sorted(filter(None, (
        ledger.moment_of(key.rpartition(':')[2]) for key in there)))
    since = max(moments[-1:] + [now()])
    first, _ = ledger.bounds(ledger.oldest(now()))
    needless = [each for each in moments if each <= first][:-1]
    prefix = names.rates_prefix(flavor_id)
    left = there.keys() & {
        prefix + ledger.stamp(each) for each in (*needless, since)}
    # To delete nothing would lock a gap, and hold up other changes.
    if left:
        written.unmark(left)
    written.write_kept({prefix + ledger.stamp(since): rate.text()})


def forget_rates(
    written: writes.Rows, flavor_id: str,
) -> None:
    """Delete what a host of a host flavor has cost.

    Two statements.

    """
    there = written.of_journal([names.rates_prefix(flavor_id)])
    if there:
        written.unmark(there)


def rates(
    rows: Iterable[tuple[str, str]], units: int,
) -> list[tuple[int, ledger.Rate]]:
    """Return the rates of a host flavor, the earliest first.

    :param rows: key and value of rows of the journal; rows that are no rates,
        or cannot be read, do not count
    :param units: what a host counts where there are no rates
    """
    found = []
    for key, value in rows:
        rate = ledger.Rate.known(value)
        since = ledger.moment_of(key.rpartition(':')[2])
        if rate is not None and since is not None:
            found.append((since, rate))
    return sorted(found, key=lambda pair: pair[0]) or [
        (0, ledger.Rate(units))]
