# SPDX-License-Identifier: Apache-2.0

"""Every error that Pcloud raises itself, in one tree.

No error knows of HTTP: ``pcloud.api.wsgi`` translates the branches below
`PcloudError` to status codes, once, at the edge.
"""

from collections.abc import Mapping
from collections.abc import Sequence
import typing

from pcloud import text


class PcloudError(Exception):
    """Base of all errors of Pcloud.

    The message shows what was wrong, with the value, and what would be right.
    A message may reach a tenant, so no message for a tenant names a real host,
    a rack, or anything of another project. A message becomes a line of a log
    and the fault of a server, so characters that cannot be printed are
    escaped.

    An error that is raised in several places, or that code distinguishes, is a
    subclass with a `message`, a format string. Any other error is raised as
    the branch of its status code, with the message.

    :param message: the whole message; without a message `details` fill the
        class's
    :param typed_reasons: for programs: objects that stand in the way, each a
        dict of strings with `type` and `uuid`, which the API shows beside the
        message
    :param blockers: for programs: the `pcloud.objects.blockers.Blocker` of the
        servers that do not leave a host
    """

    message = 'An error of Pcloud.'

    def __init__(
        self, message: str | None = None, *,
        typed_reasons: Sequence[Mapping[str, str]] = (),
        blockers: Sequence[typing.Any] = (), **details: object,
    ):
        self.details = details
        self.typed_reasons = typed_reasons
        self.blockers = blockers
        super().__init__(text.shown(
            self.message % details if message is None else message))


class Invalid(PcloudError):
    """A value that can never be right (400)."""


class InvalidValue(Invalid):
    """A value in a form that the value cannot have.

    :param what: the value's name, as the user knows the value
    :param expected: what would be right, to follow "it has to be"
    """

    message = "%(what)s: '%(value)s' is not right; it has to be %(expected)s."

    def __init__(self, what: str, value: object, expected: str):
        super().__init__(what=what, value=text.beginning(str(value)),
                         expected=expected)


class NotFound(PcloudError):
    """The object does not exist, or not for the caller (404)."""


class Conflict(PcloudError):
    """The present state does not allow the request (409)."""


class Denied(PcloudError):
    """The caller may not make the request (403)."""


class Unavailable(PcloudError):
    """A part of the cloud does not answer just now (503)."""

    message = ('A part of the cloud does not answer at the moment; nothing '
               'was changed. Repeat the request when that part is back.')


class FilterFailed(Unavailable):
    message = ("Whether hosts are right is not known at the moment, for the "
               "scheduler's filter %(filter)s fails; nothing was changed. "
               'Repeat the request, or tell the operator.')


class WrongContentType(PcloudError):
    """The content type of the request is not JSON (415)."""

    message = ("The content type '%(found)s' is not supported; send "
               'application/json.')


class PlacementSilent(Unavailable):
    """Placement does not answer; the message is the same as for any part."""


class KeystoneUnasked(PcloudError):
    message = ('Projects and domains that Keystone does not know any more are '
               'not looked for, as Keystone cannot be asked: %(reason)s. Give '
               'the user of [service_user] in nova.conf a role that lets it '
               'read projects and domains.')


class KeystoneSilent(Unavailable):
    message = ('Keystone does not tell which projects there are at the '
               'moment; nothing was changed. Repeat the request later, or '
               'name the project by its id.')


class DeviceKeysUnknown(Unavailable):
    message = ('The placement keys of the %(what)s of the server are not '
               'known, as %(service)s does not tell them at the moment; no '
               'server was created. Repeat the request later, or tell the '
               'operator.')


class LimitsSilent(Unavailable):
    message = ('Keystone does not tell how many units the project may use at '
               'the moment; nothing was changed. Repeat the request later.')


class OutcomeUnknown(Unavailable):
    message = ('The database went away while the change was being written; '
               'whether the change was made is not known. Look at the '
               'present state before repeating the request.')


class HostBusy(Conflict):
    message = ("Host '%(name)s' is closed until an earlier change of the "
               'host is finished; nothing was changed. Repeat the request, '
               'which tries to finish that change; as long as a part of the '
               'cloud does not answer, no repetition helps.')


class AggregateGone(NotFound):
    message = 'It was deleted while the request was under way.'


class HostInAggregate(Conflict):
    message = 'The host is in there already.'


class AggregateNameTaken(Conflict):
    message = "There is an aggregate '%(name)s' already."


class KeyTaken(Conflict):
    message = 'Another request has written the same at the same moment.'


class InvalidHint(Invalid):
    message = ('The scheduler hint %(name)s=%(value)s is not valid: it takes '
               'the id of one Pcloud, once.')


class InvalidRecord(Invalid):
    """A metadata value with several values in it that cannot be read."""

    message = '%(value)r is not right; it has to be %(expected)s.'


class GrowthLimit(Conflict):
    message = ('it has %(hosts)d hosts, needs at least %(more)d more, and may '
               'have %(limit)d (max_hosts).')


class GrowthUseless(Conflict):
    message = ("too few free hosts of host flavor '%(host_flavor)s' have "
               "capacity "
               'for such servers.')


class GrowthForbidden(Conflict):
    message = '%(reason)s; set the default anew.'


class GrowthBusy(Conflict):
    message = ('Too many launches into Pcloud %(pcloud)s, which grows, are '
               'not over; repeat the request.')


class HouseRuleBroken(Denied):
    """The owner of a Pcloud does not allow what is asked for."""

    message = 'Pcloud %(pcloud)s cannot be used so: %(reason)s.'


class CapExceeded(Denied):
    """A tenant asks for more than the owner of a Pcloud lets it use."""

    message = 'Pcloud %(pcloud)s takes no more: %(reason)s.'


class UseUnknown(Unavailable):
    """What a tenant with a cap uses cannot be counted now."""

    message = 'Pcloud %(pcloud)s takes no more now: %(reason)s.'


class NamedHostUnknown(Invalid):
    """A server names a host that its Pcloud does not have."""

    message = 'Pcloud %(pcloud)s cannot be used so: %(reason)s.'


class HostConstraint(Denied):
    message = ('The constraint host=%(host)s is for administrators; leave it '
               'out.')


class NothingFits(Conflict):
    message = ('No host flavor with a free host%(zone)s meets the '
               'constraints: %(reasons)s.')


class HostsRefused(Conflict):
    """No host is right by the rule of one of Pcloud's filters."""


class LocalityUnknown(NotFound):
    message = ('Strict locality cannot be kept: no server of the project '
               'that is on a host is known as %(named)s.')


class SchedulerUnknown(PcloudError, ImportError):
    """The filters cannot be loaded, for whoever loads the filters."""

    message = ("This Nova's scheduler chooses destinations in a form that "
               'this version of Pcloud does not know (RPC version '
               '%(version)s). Use a version of Nova and Pcloud that fit each '
               'other.')


class PcloudUnusable(NotFound):
    message = 'Pcloud %(pcloud)s cannot be used: %(reason)s.'


class NameTooLong(Invalid):
    message = ('%(what)s %(value)s is too long: it is kept in %(length)d '
               'characters and Nova holds %(limit)d.')


class ProjectUnknown(Invalid):
    message = ("There is no project with the id '%(project)s'. If that is a "
               'name, you may not look it up: a member of the project reads '
               'the id with openstack token issue -f value -c project_id.')


class ProjectNotFound(NotFound):
    message = ("No project named '%(name)s' can be found%(domain)s. Names "
               'are told apart by letter case; projects of other domains '
               'than your own are found where the operator allows that, '
               'and by their ids always.')


class FlavorNotFound(NotFound):
    message = "Flavor '%(flavor)s' could not be found."


class FlavorUnusable(Invalid):
    message = "Flavor '%(flavor)s' cannot be used: %(reason)s"


class ServerGroupUnknown(NotFound):
    message = "There is no server group '%(group)s'."


class HostFlavorNotFound(NotFound):
    message = "Host flavor '%(host_flavor)s' could not be found."


class ComputeHostNotFound(NotFound):
    message = "Compute host '%(host)s' could not be found."


class PoolHostNotFound(NotFound):
    message = ("Host '%(host)s' is not in the pool of host flavor "
               "'%(host_flavor)s'.")


class HostNotEmpty(Conflict):
    message = "Host '%(host)s' is not empty: %(reasons)s."


class PcloudNotFound(NotFound):
    message = "Pcloud '%(pcloud)s' could not be found."


class PcloudInUse(Conflict):
    message = "Pcloud '%(pcloud)s' has hosts; remove them first."


class PolicyForbids(Denied):
    message = "Policy doesn't allow %(rule)s to be performed."


class HostNotFound(NotFound):
    message = "Host '%(name)s' could not be found in Pcloud '%(pcloud)s'."


class HostNameInUse(Conflict):
    message = ("Pcloud '%(pcloud)s' has a host named '%(name)s' already "
               '(names that differ only in case are the same).')


class HostChanged(Conflict):
    message = ("Host '%(name)s' was enabled or removed by another request "
               'at the same moment; look at it again.')


class RebalanceOutdated(Conflict):
    message = ('Pcloud %(pcloud)s is not as it was when the rebalance was '
               'planned; have it planned again.')


class NoFreeHost(Conflict):
    message = ("There is no free host of host flavor '%(host_flavor)s'"
               '%(zone)s.')


class FewFreeHosts(NoFreeHost):
    message = ("There are only %(free)d free hosts of host flavor "
               "'%(host_flavor)s'%(zone)s, and %(wanted)d are asked for; "
               'nothing was changed.')


class OthersWaiting(Conflict):
    message = ('%(count)d are waiting before you for a host of host flavor '
               "'%(host_flavor)s'%(zone)s; give wait_until to wait too.")


class TooManyWaiting(Denied):
    message = ("The project has %(count)d entries in waiting lists, and may "
               'have %(limit)d; cancel one of them first.')


class WaitingNotFound(NotFound):
    message = "Pcloud '%(pcloud)s' has no entry '%(id)s' in a waiting list."


class HostsSettling(Conflict):
    message = ("There is no free host of host flavor '%(host_flavor)s'"
               '%(zone)s yet: %(count)d more are settling, until no server '
               'that was asked for before they changed hands can land on '
               'them any more; try again later.')


class ReleasedHostsSettling(HostsSettling):
    message = ('Hosts that the project has let go still settle, until no '
               'server that was asked for before can land on them any more: '
               '%(count)d of them count %(units)d units. With %(in_use)d '
               'units in use and %(requested)d requested that is more than '
               'the limit of %(limit)d units; try again later.')


class HostsContended(Conflict):
    message = ("No free host of host flavor '%(host_flavor)s'%(zone)s could "
               'be kept in %(attempts)d attempts: other requests wanted the '
               'same hosts or quota at the same moment; try again.')


class LimitsOutdated(Conflict):
    message = ('Other projects of the domain have begun to use units '
               'meanwhile; nothing was changed, try again.')


class QuotaExceeded(Denied):
    message = ('Quota exceeded for units: requested %(requested)d, but '
               'already used %(in_use)d of %(limit)d units.')


class ScopedPolicyNotFound(NotFound):
    message = "No policy is set for %(scope)s '%(id)s'."


class TenantNotFound(NotFound):
    message = "Project '%(project)s' is not a tenant of Pcloud '%(pcloud)s'."


class InputUnreadable(Invalid):
    message = '%(path)s cannot be used: %(reason)s.'


class WorkerWithoutToken(PcloudError):
    """A worker cannot act in a project."""
