# SPDX-License-Identifier: Apache-2.0

"""The table of all scheduler hints of Pcloud, and the reading of two hints.

Nova keeps the hints that a server was started with in the server's request
spec, and every later placement of the server reads the hints again. The
module of a rule reads the hints of the rule; the hints of the Pcloud and of
the constraints are read here.

Rule: reference-hints-table
"""

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import re
import unicodedata

from pcloud import exception
from pcloud.rules import forms
from pcloud import text

# Hints that users give.
PCLOUD = 'pcloud'
PREFER = 'pcloud_prefer'
HOST = 'pcloud_host'
PLACEMENT_KEY = 'placement_key'
CONSTRAINTS = 'constraints'
NEAR, FAR, LOCALITY = 'near', 'far', 'locality'
SERVICE, IN, WITH, BESIDE, ROOM_FOR = (
    'service', 'in', 'with', 'beside', 'room_for')

# Hints that nova-api adds to a new server, so that what counted when the
# server was started stays with the server. Users cannot give hints with this
# prefix.
# The value of the hint `PCLOUD` for a server outside of Pclouds.
OUTSIDE = 'none'

RECORD_PREFIX = '_pcloud_'
CUSTOMER_RECORD = RECORD_PREFIX + 'customer_keys'
IMAGE_RECORD = RECORD_PREFIX + 'image_keys'
# Of what a server is attached to when the server starts.
DEVICE_RECORD = RECORD_PREFIX + 'device_keys'
DEVICE_SYSTEM_RECORD = RECORD_PREFIX + 'device_system_keys'
IMAGE_CONSTRAINTS_RECORD = RECORD_PREFIX + 'image_constraints'
DOMAIN_RECORD = RECORD_PREFIX + 'domain'
# The Pcloud may grow for the launch.
GROW_RECORD = RECORD_PREFIX + 'grow'

# Readers of hints beside the filters and weighers, whose classes the table
# names. The client is the one that deploys services.
API, SCHEDULER, REQUEST_FILTER, CLIENT = (
    'nova-api', 'nova-scheduler', 'request filter', 'client')


@dataclasses.dataclass(frozen=True)
class Hint:
    """A row of the table.

    :ivar rules: the modules of `pcloud.rules` that the hint matters to
    :ivar readers: who makes a decision by the values of the hint
    :ivar repeats: whether the hint may have more than one value
    :ivar narrows: whether only some hosts will do for a server with the
        hint, and Placement may not leave hosts out because there are many
    :ivar recorded: whether nova-api adds the hint, and not the user
    """

    name: str
    rules: tuple[str, ...]
    readers: tuple[str, ...]
    repeats: bool = False
    narrows: bool = False
    recorded: bool = False


_BY_CONSTRAINTS = ('ConstraintsFilter', 'LeastWasteWeigher')
_BY_AFFINITY = ('AffinityFilter', 'AffinityWeigher')

TABLE = (
    # The policies of a Pcloud hold constraints and placement keys.
    Hint(PCLOUD, ('access', 'constraints', 'affinity', 'settling'),
         (API, REQUEST_FILTER, 'PcloudFilter', *_BY_CONSTRAINTS,
          *_BY_AFFINITY, CLIENT), narrows=True),
    # The request filter decides, and Placement may leave out no host of the
    # Pcloud once the Pcloud is decided for.
    Hint(PREFER, ('access', 'constraints', 'affinity', 'settling'),
         (API, REQUEST_FILTER, 'PcloudFilter', *_BY_CONSTRAINTS,
          *_BY_AFFINITY)),
    Hint(HOST, ('house_rules',), (API, REQUEST_FILTER, 'PcloudFilter'),
         narrows=True),
    Hint(PLACEMENT_KEY, ('affinity',), (API, *_BY_AFFINITY), repeats=True),
    Hint(CONSTRAINTS, ('constraints',), (API, *_BY_CONSTRAINTS)),
    Hint(NEAR, ('locality',), ('LocalityFilter',),
         repeats=True, narrows=True),
    Hint(FAR, ('locality',), ('LocalityFilter',), repeats=True, narrows=True),
    # The only valid word, given twice, changes nothing.
    Hint(LOCALITY, ('locality',), ('LocalityFilter',), repeats=True),
    Hint(SERVICE, ('colocation',), (API, 'ColocationFilter', CLIENT)),
    Hint(IN, ('colocation',), (API, 'ColocationFilter', CLIENT),
         narrows=True),
    # A server that is moved goes to the hosts of the named service.
    Hint(WITH, ('colocation',), (API, 'ColocationFilter', CLIENT),
         narrows=True),
    Hint(BESIDE, ('colocation',), (API, 'ColocationFilter', CLIENT),
         repeats=True, narrows=True),
    Hint(ROOM_FOR, ('colocation',), (API, 'ColocationFilter'),
         repeats=True, narrows=True),

    Hint(CUSTOMER_RECORD, ('affinity',), _BY_AFFINITY,
         repeats=True, recorded=True),
    Hint(IMAGE_RECORD, ('affinity',), _BY_AFFINITY,
         repeats=True, recorded=True),
    Hint(DEVICE_RECORD, ('affinity',), _BY_AFFINITY,
         repeats=True, recorded=True),
    Hint(DEVICE_SYSTEM_RECORD, ('affinity',), _BY_AFFINITY,
         repeats=True, recorded=True),
    Hint(IMAGE_CONSTRAINTS_RECORD, ('constraints',), _BY_CONSTRAINTS,
         recorded=True),
    # The policies of a domain, too.
    Hint(DOMAIN_RECORD, ('constraints', 'affinity'),
         (*_BY_CONSTRAINTS, *_BY_AFFINITY), recorded=True),
    Hint(GROW_RECORD, ('default_pcloud',), (SCHEDULER,), recorded=True),
)

# The domain that Keystone has from the beginning, and in most clouds the only
# one. No new server of the domain has a record, as nobody should pay for a
# record who uses no policies.
DEFAULT_DOMAIN = 'default'

# The names of the hints that users give.
GIVEN = tuple(hint.name for hint in TABLE if not hint.recorded)
NARROWING = frozenset(hint.name for hint in TABLE if hint.narrows)

_WITHOUT_PCLOUD = (
    f'The scheduler hint {HOST} names a host of one Pcloud: give it together '
    f'with {PCLOUD}=<id of the Pcloud> and without {PREFER}, or where the '
    'project has a default Pcloud.')
_HOST_NAME = re.compile(forms.HOST_NAME)
# Dashes of any kind, as somebody may write them for a low line.
_DASHES = re.compile('[-\u2010-\u2015]')
_TWO_PCLOUDS = (f'The scheduler hints {PCLOUD} and {PREFER} exclude each '
                'other; leave one of them out.')


def is_record(name: str) -> bool:
    """Whether a hint is nova-api's to add."""
    return name.startswith(RECORD_PREFIX)


def meant(name: str) -> str | None:
    """Return the hint that a wrong name was meant for, None for all others.

    ================================  =====================  =============
    name of a hint                    for example            meant
    ================================  =====================  =============
    ours                              ``near``               None
    ours but for letter case, width   ``Near``, `` near``    ``near``
    of letters, or what is not seen
    beginning with ``pcloud_``, with  ``pcloud-host``        ``pcloud_host``
    another dash
    ``pcloud`` without a letter       ``pclod``, ``cloud``   ``pcloud``
    ``pcloud`` with a letter doubled  ``pclloud``            ``pcloud``
    ``pcloud`` with neighbours        ``pcluod``             ``pcloud``
    exchanged
    ``pcloud`` with a wrong letter    ``pcl0ud``             ``pcloud``
    any other                         ``group``, ``nearer``  None
    ================================  =====================  =============

    What counts for ``pcloud`` is asked of the name without letter case.

    Rule: reference-hints-mistaken
    """
    if name in GIVEN:
        return None
    plain = _plain(name)
    if plain in GIVEN:
        return plain
    dashed = _DASHES.sub('_', plain)
    if dashed in GIVEN and dashed.startswith(f'{PCLOUD}_'):
        return dashed
    return PCLOUD if _is_nearly(plain, PCLOUD) else None


def _plain(name: str) -> str:
    """Return a name in small letters, without blanks and unseen characters."""
    return ''.join(
        character for character
        in unicodedata.normalize('NFKC', name).casefold()
        if unicodedata.category(character)[0] not in 'CZ')


def _is_nearly(name: str, right: str) -> bool:
    """Whether a name is another name with one letter wrong."""
    if abs(len(name) - len(right)) > 1:
        return False
    places = range(len(right))
    if len(name) < len(right):
        return any(name == right[:place] + right[place + 1:]
                   for place in places)
    if len(name) > len(right):
        return any(name == right[:place] + right[place] + right[place:]
                   for place in places)
    differing = [place for place in places if name[place] != right[place]]
    return len(differing) == 1 or (
        len(differing) == 2 and differing[1] == differing[0] + 1 and
        name[differing[0]] == right[differing[1]] and
        name[differing[1]] == right[differing[0]])


def check_names(names: Iterable[str], others: Collection[str]) -> None:
    """Refuse names of hints that were probably meant for a hint of ours.

    A server with such a hint would start as if there were no hint.

    :param others: the names of hints that filters of the operator read
    :raises: `exception.InvalidValue`
    """
    for name in names:
        right = meant(name)
        if right is not None and name not in others:
            raise exception.InvalidValue(
                'Scheduler hint', name,
                f"'{right}'; an operator with a filter of another hint lists "
                'the hint in [pcloud] other_hints')


def domain_id(told: str | None) -> str:
    """Return the id of a project's domain.

    :param told: what Nova is told with a token, None where Nova is told
        nothing of domains: all projects are in the default domain then
    """
    return DEFAULT_DOMAIN if told is None else told


def domain_record(domain: str) -> list[str]:
    """Return the values of the record of a domain, [] for no record.

    :param domain: the id of the domain of a new server's project, '' when
        unknown
    """
    return [] if domain == DEFAULT_DOMAIN else [domain]


def domain(hints: Mapping[str, Sequence[str]]) -> str:
    """Return the id of the domain of a server's project, '' when unknown.

    Servers without a record are taken for servers of the default domain, also
    those that were started without Pcloud in front of nova-api.

    :param hints: as in a request spec
    """
    return (hints.get(DOMAIN_RECORD) or [DEFAULT_DOMAIN])[0]


def check_text(hints: Mapping[str, object]) -> None:
    """Refuse text that no database can keep, in the hints of users.

    Nova could not even store the reason why such a server has no host.

    :raises: `exception.InvalidValue`
    """
    for name in GIVEN:
        for value in values(hints, name):
            if isinstance(value, str) and not text.is_encodable(value):
                raise exception.InvalidValue(
                    f'Scheduler hint {name}', value,
                    'without a surrogate that lacks its other half')


def check_values(hints: Mapping[str, object]) -> None:
    """Refuse values of the hint `PCLOUD` that no request spec can keep.

    Nova would end with an unexpected error. What a request spec can keep is
    judged by the scheduler. A wrong name of a host is refused too, and a name
    of a host where no Pcloud is meant.

    :raises: `exception.InvalidHint`, `exception.InvalidValue`
    """
    if HOST in hints:
        host_name({HOST: values(hints, HOST)})
        if PREFER in hints or values(hints, PCLOUD) == [OUTSIDE]:
            raise exception.InvalidHint(_WITHOUT_PCLOUD)
    given = values(hints, PCLOUD)
    if not all(isinstance(value, str | int | float) for value in given):
        raise exception.InvalidHint(
            name=PCLOUD, value=','.join(map(str, given)))


def values(hints: Mapping[str, object], name: str) -> list:
    """Return the values of a hint in a request, none without the hint.

    :param hints: ``name -> value, or list of values``, as a user writes hints
    """
    if name not in hints:
        return []
    given = hints[name]
    return given if isinstance(given, list) else [given]


def pcloud_id(
    hints: Mapping[str, Sequence[str] | None] | None,
) -> str | None:
    """Return the id of the Pcloud that a request asks for.

    :param hints: the request's scheduler hints, each a list of values as in
        ``RequestSpec.scheduler_hints``, or None
    :returns: the id, or None when there is no such hint, or the hint is for a
        server outside of Pclouds
    :raises: `exception.InvalidHint` when the hint is present and is not a
        single well-formed id or "none". An empty list is a hint too: the user
        meant a Pcloud, so a host outside of Pclouds is not right.

    Rule: reference-isolation-hint
    """
    if not hints or PCLOUD not in hints:
        _check_without_host(hints)
        return None
    if PREFER in hints:
        raise exception.InvalidHint(_TWO_PCLOUDS)
    if _listed(hints[PCLOUD]) == [OUTSIDE]:
        _check_without_host(hints)
        return None
    return _only_id(PCLOUD, hints[PCLOUD])


def preferred_id(
    hints: Mapping[str, Sequence[str] | None] | None,
) -> str | None:
    """Return the id of the Pcloud that a request prefers, None if none.

    :raises: `exception.InvalidHint` when the hint is present and is not a
        single well-formed id

    Rule: reference-default-pcloud-prefer
    """
    if not hints or PREFER not in hints:
        return None
    if PCLOUD in hints:
        raise exception.InvalidHint(_TWO_PCLOUDS)
    _check_without_host(hints)
    return _only_id(PREFER, hints[PREFER])


def host_name(
    hints: Mapping[str, Sequence[str] | None] | None,
) -> str | None:
    """Return the owner's name of the only host for a server, None for any.

    :raises: `exception.InvalidValue` when the hint is present and is not a
        single well-formed name

    Rule: reference-house-rules-pin
    """
    if not hints or HOST not in hints:
        return None
    # Nova keeps a number as text.
    listed = [str(value) for value in _listed(hints[HOST]) or ()]
    if len(listed) != 1 or not _HOST_NAME.fullmatch(listed[0]):
        raise exception.InvalidValue(
            f'Scheduler hint {HOST}', ','.join(listed),
            'the name that the owner of the Pcloud gave to one of its hosts, '
            'once')
    return listed[0]


def require_pcloud(hints: Mapping[str, object]) -> None:
    """Refuse the name of a host where neither hint nor default is a Pcloud.

    :raises: `exception.InvalidHint`
    """
    if PCLOUD not in hints:
        _check_without_host(hints)


def _check_without_host(hints: Mapping[str, object] | None) -> None:
    if hints and HOST in hints:
        raise exception.InvalidHint(_WITHOUT_PCLOUD)


def places(
    hints: Mapping[str, Sequence[str] | None] | None,
) -> frozenset[str | None]:
    """Return the ids of the Pclouds where a server may be.

    None stands for the hosts outside of Pclouds. A server that prefers a
    Pcloud may be inside the Pcloud and outside.

    :raises: `exception.InvalidHint`
    """
    preferred = preferred_id(hints)
    if preferred is not None:
        return frozenset((preferred, None))
    return frozenset((pcloud_id(hints),))


def _only_id(name: str, values: Sequence[str] | None) -> str:
    listed = _listed(values)
    if not listed or len(listed) != 1 or not forms.is_uuid(listed[0]):
        shown = listed if listed is None else ','.join(map(str, listed))
        raise exception.InvalidHint(name=name, value=shown)
    return listed[0]


def _listed(values: Sequence[str] | None) -> Sequence[str] | None:
    return [values] if isinstance(values, str) else values


def image_constraints(hints: Mapping[str, Sequence[str]]) -> str:
    """Return the recorded machine constraints of a server's image, or ''.

    :param hints: as in a request spec
    """
    return (hints.get(IMAGE_CONSTRAINTS_RECORD) or [''])[0]


def constraints(hints: Mapping[str, Sequence[str]] | None) -> str:
    """Return the machine constraints that a request asks for, '' if none.

    :raises: `exception.Invalid` when the hint is given several
        times, or is no text

    Rule: reference-constraints-syntax
    """
    if not hints or CONSTRAINTS not in hints:
        return ''
    given = hints[CONSTRAINTS]
    values = given if isinstance(given, list) else [given]
    if len(values) != 1 or not isinstance(values[0], str):
        raise exception.Invalid(
            'The scheduler hint constraints takes one text with all pairs in '
            'it, such as constraints="ram=4G cpu=2"; give it once.')
    return values[0]
