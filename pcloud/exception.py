# SPDX-License-Identifier: Apache-2.0

"""Every error that Pcloud raises itself, in one tree.

No error knows of HTTP: ``pcloud.api.wsgi`` translates the branches below
`PcloudError` to status codes, once, at the edge.
"""

from collections.abc import Mapping
from collections.abc import Sequence
import typing

from pcloud.rules import text


class PcloudError(Exception):
    """Base of all errors of Pcloud.

    A subclass sets `message`, a format string; the keyword arguments of the
    constructor fill the message. The message shows what was wrong, with the
    value, and what would be right. A message may reach a tenant, so no message
    for a tenant names a real host, a rack, or anything of another project. A
    message becomes a line of a log and the fault of a server, so characters
    that cannot be printed are escaped.

    The detail `typed_reasons` is for programs: objects that stand in the way,
    each a dict of strings with `type` and `uuid`, which the API shows beside
    the message. So are `blockers`, the `pcloud.objects.blockers.Blocker` of
    the servers that do not leave a host.
    """

    message = 'An error of Pcloud.'

    def __init__(
        self, typed_reasons: Sequence[Mapping[str, str]] = (),
        blockers: Sequence[typing.Any] = (), **details: object,
    ):
        self.details = details
        self.typed_reasons = typed_reasons
        self.blockers = blockers
        super().__init__(text.shown(self.message % details))


class Invalid(PcloudError):
    """A value that can never be right (400)."""


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


class KeystoneSilent(Unavailable):
    message = 'Keystone cannot be asked at the moment: %(reason)s.'


class KeystoneUnasked(PcloudError):
    message = ('Projects and domains that Keystone does not know any more are '
               'not looked for, as nobody may ask Keystone: %(reason)s. Give '
               'the user of [service_user] in nova.conf a role that lets it '
               'read projects and domains.')


class GrantsUnknown(Unavailable):
    message = ('Keystone does not tell what the user may do who has set the '
               'default Pcloud; the log of nova-scheduler says why. Nothing '
               'was changed.')


class OutcomeUnknown(Unavailable):
    message = ('The database went away while the change was being written; '
               'whether the change was made is not known. Look at the '
               'present state before repeating the request.')


class DatabaseAway(Unavailable):
    message = ('The database of the compute service cannot be reached; '
               'nothing was changed. Repeat the request when the database '
               'is back.')


class Contended(Conflict):
    message = ('Other requests change the same thing at the moment; nothing '
               'was changed, try again.')


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


class NodesUnknown(Conflict):
    message = ('The rows of the Pcloud lack the node of a host; an '
               'administrator has to run pcloud-manage audit --fix first.')


class NotInFrontOfNova(PcloudError):
    message = ("Behind Pcloud's filter there is nothing of Nova's API in the "
               "pipeline; put 'pcloud' into the pipelines of the compute API "
               'in api-paste.ini, behind keystonecontext.')


class InvalidHint(Invalid):
    message = ('The scheduler hint %(name)s=%(value)s is not valid: it takes '
               'the id of one Pcloud, once.')


class TwoPcloudHints(InvalidHint):
    message = ('The scheduler hints pcloud and pcloud_prefer exclude each '
               'other; leave one of them out.')


class PreferenceUndecided(InvalidHint):
    message = ('It is not decided whether the server goes to the Pcloud that '
               'it prefers: the request filter of Pcloud has to come before '
               'the filters.')


class InvalidDefaultPcloud(Invalid):
    message = ('The default Pcloud %(value)s is not right; it has to be '
               '%(expected)s.')


class InvalidDrain(Invalid):
    message = ('Drain %(value)r is not right; it has to be %(expected)s.')


class InvalidRebalance(Invalid):
    message = 'Rebalance %(value)r is not right; it has to be %(expected)s.'


class InvalidMaintenance(Invalid):
    message = ('Maintenance %(value)r is not right; it has to be '
               '%(expected)s.')


class InvalidTurn(Invalid):
    message = ("The turn '%(value)s' is not right; it has to be 8 hexadecimal "
               'digits and a time.')


class MistakenHint(Invalid):
    message = ("The scheduler hint '%(name)s' is not right; it has to be "
               "'%(meant)s'. An operator with a filter of another hint lists "
               'the hint in [pcloud] other_hints.')


class HintsTwice(Invalid):
    message = ("The scheduler hint '%(name)s' is in '%(ignored)s', which Nova "
               "ignores beside '%(read)s'; give all hints there.")


class InvalidHintText(Invalid):
    message = ('The scheduler hint %(name)s=%(value)s is not valid: it has a '
               'surrogate without its other half, which no text can have.')


class InvalidRatio(Invalid):
    message = ('Allocation ratio %(value)r is not right; it has to be '
               '%(expected)s.')


class InvalidUnits(Invalid):
    message = 'Units %(value)r are not right; it has to be %(expected)s.'


class InvalidMetadata(Invalid):
    message = ('Metadata key %(key)s: %(value)r is not right; it has to be '
               '%(expected)s.')


class InvalidValueOfKey(Invalid):
    message = '%(key)s: %(reason)s'


class InvalidPlacementKey(Invalid):
    message = ("Placement key '%(key)s' is not right; it has to be "
               '%(expected)s.')


class InvalidCopies(Invalid):
    message = ("The record of sticky placement keys '%(text)s' cannot be "
               'read; the keys that the last host has now count in its '
               'place.')


class NotInScope(Invalid):
    message = ("'%(member)s' cannot be set in scope %(scope)s; the scopes of "
               "'%(member)s' are %(scopes)s.")


class ReservedHint(Invalid):
    message = ("The scheduler hint '%(name)s' is not for users; leave it "
               'out.')


class InvalidLocality(Invalid):
    message = ("The scheduler hint locality=%(value)s is not valid: it takes "
               "'strict', or is left out.")


class InvalidServerHint(Invalid):
    message = ("The scheduler hint %(name)s=%(value)s is not right; it has to "
               'be the id of a server, as openstack server show -f value -c '
               'id NAME prints it, or tag:NAME for the servers with a tag.')


class InvalidConstraint(Invalid):
    message = ("Constraint '%(pair)s', at character %(position)d, is not "
               'right; it has to be %(expected)s.')


class AttributeOfNoHost(Invalid):
    message = ("No host meets the constraint '%(pair)s': no host has an "
               "attribute '%(name)s'; it has to be %(expected)s.")


class RepeatedConstraints(Invalid):
    message = ('The scheduler hint constraints takes one text with all pairs '
               'in it, such as constraints="ram=4G cpu=2"; give it once.')


class InvalidImageConstraints(Invalid):
    message = ('The image property %(property)s is not right: %(reason)s '
               'Correct the property, or use another image.')


class RoleInRole(Invalid):
    message = ("The constraints of a role cannot have role=%(role)s among "
               'them; write out what it stands for.')


class DefaultPcloudUnreadable(Conflict):
    message = ('The default Pcloud of %(source)s counts here and cannot be '
               'read, so the server is not started: ask your operator, set '
               'another default, or start the server with the hint '
               'pcloud=none. %(reason)s')


class GrowthRefused(Conflict):
    message = ('Default Pcloud %(pcloud)s has no room for %(count)d more '
               'servers of this kind, and does not grow: %(reason)s')


class GrowthLimit(Conflict):
    message = ('it has %(hosts)d hosts, needs at least %(more)d more, and may '
               'have %(limit)d (max_hosts).')


class GrowthUseless(Conflict):
    message = ("too few free hosts of host flavor '%(host_flavor)s' have room "
               'for such servers.')


class GrowthForbidden(Conflict):
    message = '%(reason)s; set the default anew.'


class GrowthBusy(Conflict):
    message = ('Too many launches into Pcloud %(pcloud)s, which grows, are '
               'not over; repeat the request.')


class DefaultPcloudUnusable(Conflict):
    message = ('Pcloud %(pcloud)s, which is the default of %(source)s, cannot '
               'be used: %(reason)s. Set another default, or start the server '
               'with the hint pcloud=none.')


class PolicyTwin(Conflict):
    message = ("The database cannot tell %(scope)s '%(id)s' from another one "
               'that has a policy already; use that one.')


class RoleUnknown(Invalid):
    message = ("Role '%(role)s' is not defined; administrators define it as "
               'a policy of scope role.')


class RoleInUse(Conflict):
    message = ("Role '%(role)s' is named in the constraints of %(policies)s; "
               'set those first.')


class HostConstraint(Denied):
    message = ('The constraint host=%(host)s is for administrators; leave it '
               'out.')


class ConstraintsUnmet(Conflict):
    message = ('No host that could take the server meets the machine '
               'constraints %(constraints)s.')


class RebootsSoon(Conflict):
    message = ('Each host that could take the server is rebooted within '
               '%(days)s days.')


class NothingFits(Conflict):
    message = ('No host flavor with a free host%(zone)s meets the '
               'constraints: %(reasons)s.')


class TooFewFit(NothingFits):
    message = ('No host flavor has %(wanted)d free hosts%(zone)s that meet '
               'the constraints; the most are %(free)d. Nothing was changed.')


class InvalidServiceHint(Invalid):
    message = ("The scheduler hint %(name)s=%(value)s is not right; it has to "
               'be %(expected)s.')


class InvalidColocationFlag(Invalid):
    message = ("The co-located flag '%(value)s' is not right; it has to be "
               'one of %(expected)s.')


class NotColocatable(Invalid):
    message = ("The server may not be co-located with '%(parent)s': its "
               'flavor (pcloud:co_located) or, where the flavor is silent, '
               'its image (pcloud_co_located=allow) has to allow it.')


class OnlyColocated(Invalid):
    message = ('The server can only be co-located, its flavor '
               '(pcloud:co_located) or image says (pcloud_co_located=always): '
               'name its parent with the hint in.')


class ColocationUnmet(Conflict):
    message = 'The server cannot be co-located: %(reason)s.'


class LocalityUnknown(NotFound):
    message = ('Strict locality cannot be kept: no server of the project '
               'that is on a host is known as %(named)s.')


class LocalityUnmet(Conflict):
    message = ('Strict locality cannot be kept: %(reason)s.')


class StrictWishesBusy(Conflict):
    message = ('Other servers of the project with strict wishes (near, far) '
               'are being placed, and were not after %(seconds)d s; repeat '
               'the request.')


class StrictTurnLost(Conflict):
    message = ('The choice of a host has taken so long that it does not count '
               'any more: other servers of the project with strict wishes '
               '(near, far) may have been placed meanwhile; repeat the '
               'request.')


class SchedulerUnknown(PcloudError, ImportError):
    """The filters cannot be loaded, for whoever loads the filters."""

    message = ("This Nova's scheduler chooses destinations in a form that "
               'this version of Pcloud does not know (RPC version '
               '%(version)s). Use a version of Nova and Pcloud that fit each '
               'other.')


class PcloudUnusable(NotFound):
    message = 'Pcloud %(pcloud)s cannot be used: %(reason)s.'


class InvalidBody(Invalid):
    message = '%(reason)s'


class InvalidQuery(Invalid):
    message = '%(reason)s'


class OtherMethod(Invalid):
    message = ("The query has _method=%(meant)s and the request is a "
               '%(method)s; leave _method out, and send the request with the '
               'method that is meant.')


class NameTooLong(Invalid):
    message = ('%(what)s %(value)s is too long: it is kept in %(length)d '
               'characters and Nova holds %(limit)d.')


class InvalidAttribute(Invalid):
    message = ('Host attribute %(name)s: %(value)r is not right; it has to be '
               '%(expected)s.')


class InvalidAttributeName(Invalid):
    message = ('Host attribute name %(name)r is not right; it has to be 1 to '
               '64 letters, digits, ".", "_", "-" or blanks.')


class ReservedAttribute(Invalid):
    message = ("Host attribute name '%(name)s' is not right: as a machine "
               'constraint the name means something else; it has to be '
               'another name.')


class ReservedProject(Invalid):
    message = ("Project id '%(project)s' cannot be a tenant of a Pcloud: it "
               'is one of the words that Pcloud keeps for itself, or has a '
               'colon in it.')


class ProjectUnknown(Invalid):
    message = ("There is no project with the id '%(project)s'. If that is a "
               'name, you may not look it up: a member of the project reads '
               'the id with openstack token issue -f value -c project_id.')


class DomainUnknown(Invalid):
    message = ("Domain '%(domain)s' does not exist; it has to be the id of a "
               'domain, which openstack domain list shows.')


class MixedPlatforms(Conflict):
    message = ('Platform version %(value)r cannot be compared with %(other)r, '
               'which other hosts have: use stamps for all hosts, or dotted '
               'versions for all.')


class AttributeTwin(Conflict):
    message = ("The database cannot tell host attribute '%(wanted)s' from "
               "'%(other)s', which exists already; use that one, or unset it "
               'first.')


class AttributeSpelled(Conflict):
    message = ("Host attributes '%(name)s' and '%(right)s' differ in letter "
               "case alone, and would be two attributes; use '%(right)s'.")


class AttributeBroken(Conflict):
    message = ("Name and metadata of aggregate '%(aggregate)s' do not agree "
               'on the attribute; mend or delete it first.')


class AttributeNotFound(NotFound):
    message = 'Host attribute %(name)s is not set on any of these hosts.'


class FlavorNotFound(NotFound):
    message = "Flavor '%(flavor)s' could not be found."


class FlavorUnusable(Invalid):
    message = "Flavor '%(flavor)s' cannot be used: %(reason)s"


class ServerUnknown(NotFound):
    message = ('There is no request for a server %(server)s in Nova; it takes '
               'the id of a server that is not deleted and archived.')


class ServerGroupUnknown(NotFound):
    message = "There is no server group '%(group)s'."


class ZoneUnavailable(NotFound):
    message = ("There is no availability zone '%(zone)s' with a host that is "
               'up; there is %(zones)s.')


class ZoneUnknown(NotFound):
    message = ("There is no availability zone '%(zone)s'; it has to be one of "
               '%(zones)s.')


class ImageUnusable(NotFound):
    message = "Image '%(image)s' cannot be had from Glance: %(reason)s"


class HostFlavorNotFound(NotFound):
    message = "Host flavor '%(host_flavor)s' could not be found."


class HostFlavorExists(Conflict):
    message = "Host flavor '%(host_flavor)s' exists already."


class HostFlavorInUse(Conflict):
    message = ("Host flavor '%(host_flavor)s' has hosts; remove them from its "
               'pool first.')


class ComputeHostNotFound(NotFound):
    message = "Compute host '%(host)s' could not be found."


class PoolHostNotFound(NotFound):
    message = ("Host '%(host)s' is not in the pool of host flavor "
               "'%(host_flavor)s'.")


class HostInPool(Conflict):
    message = "Host '%(host)s' is in the pool '%(pool)s' already."


class HostInPcloud(Conflict):
    message = ("Host '%(host)s' is in a Pcloud; it has to be removed from "
               'there first.')


class HostServiceEnabled(Conflict):
    message = ("The compute service of host '%(host)s' is enabled; disable it "
               'first, so that nothing is scheduled to it meanwhile.')


class HostHasManyNodes(Conflict):
    message = ('The host has %(count)d compute nodes; only a host with '
               'exactly one can be given away as a whole.')


class HostNotEmpty(Conflict):
    message = "Host '%(host)s' is not empty: %(reasons)s."


class PcloudNotFound(NotFound):
    message = "Pcloud '%(pcloud)s' could not be found."


class PcloudInUse(Conflict):
    message = "Pcloud '%(pcloud)s' has hosts; remove them first."


class PcloudNameTwice(Conflict):
    message = ("%(count)d Pclouds of the project have the name '%(name)s'; "
               'name the one that is meant by its id.')


class OnlyHome(Conflict):
    message = ("%(count)s Pcloud '%(pcloud)s' as the only home, and could "
               'not be unshelved any more: %(servers)s. Unshelve or delete '
               'them first, or repeat the request with force=1, as --force '
               'does.')


class NoHome(Conflict):
    message = ('Server %(server)s cannot be unshelved: it can only come back '
               'into Pcloud %(pcloud)s, and that cannot be used: %(reason)s. '
               'The owner of the Pcloud can make the project a tenant again. '
               'Otherwise start a new server from the image that the '
               'shelving has made, or from the volume, before you delete '
               'this one.')


class PolicyForbids(Denied):
    message = "Policy doesn't allow %(rule)s to be performed."


class PcloudForbidden(Denied):
    message = "Only the owner of Pcloud '%(pcloud)s' may do this."


class HostNotFound(NotFound):
    message = "Host '%(name)s' could not be found in Pcloud '%(pcloud)s'."


class HostNameInUse(Conflict):
    message = ("Pcloud '%(pcloud)s' has a host named '%(name)s' already "
               '(names that differ only in case are the same).')


class HostNotDisabled(Conflict):
    message = "Host '%(name)s' is enabled; disable it before removing it."


class HostNotReleased(Conflict):
    message = ("Host '%(name)s' is not drained to be released any more; "
               'look at it again.')


class HostLeaves(Conflict):
    message = ("Host '%(name)s' has stood in for another host during a "
               'maintenance that is over: it counts, takes no new servers, '
               'and leaves the Pcloud when it is empty. Move, delete or '
               'unlock the servers on it, or drain it with release, with '
               'move live or any and without a deadline; to have more hosts, '
               'add one.')


class HostChanged(Conflict):
    message = ("Host '%(name)s' was enabled or removed by another request "
               'at the same moment; look at it again.')


class RebalanceOutdated(Conflict):
    message = ('Pcloud %(pcloud)s is not as it was when the rebalance was '
               'planned; have it planned again.')


class ForcedMoveRefused(Conflict):
    message = ("Server %(server)s cannot be forced to host '%(host)s': "
               '%(reason)s. Let the scheduler decide (no force, a newer '
               'microversion), or name a host on the right side.')


class NoFreeHost(Conflict):
    message = ("There is no free host of host flavor '%(host_flavor)s'"
               '%(zone)s.')


class TooFewFreeHosts(NoFreeHost):
    message = ("There are only %(free)d free hosts of host flavor "
               "'%(host_flavor)s'%(zone)s, and %(wanted)d are asked for; "
               'nothing was changed.')


class HostsSettling(Conflict):
    message = ("There is no free host of host flavor '%(host_flavor)s'"
               '%(zone)s yet: %(count)d more are settling, until no server '
               'that was asked for before they changed hands can land on '
               'them any more; try again later.')


class TooFewSettled(HostsSettling):
    message = ("There are only %(free)d free hosts of host flavor "
               "'%(host_flavor)s'%(zone)s yet, and %(wanted)d are asked for: "
               '%(count)d more are settling, until no server that was asked '
               'for before they changed hands can land on them any more; try '
               'again later.')


class ReleasedHostsSettling(HostsSettling):
    message = ('Hosts that the project has let go still settle, until no '
               'server that was asked for before can land on them any more: '
               '%(count)d of them count %(units)d units. With %(in_use)d '
               'units in use and %(requested)d requested that is more than '
               'the limit of %(limit)d units; try again later.')


class HostSettling(Conflict):
    message = ("Host '%(host)s' is settling: a server that was asked for "
               'before the host changed hands may still land on it, or has. '
               'Repeat the request later.')


class HostsContended(Conflict):
    message = ("No free host of host flavor '%(host_flavor)s'%(zone)s could "
               'be kept in %(attempts)d attempts: other requests wanted the '
               'same hosts or quota at the same moment; try again.')


class QuotaExceeded(Denied):
    message = ('Quota exceeded for units: requested %(requested)d, but '
               'already used %(in_use)d of %(limit)d units.')


class NoSuchName(NotFound):
    message = ('Nothing can have the name %(name)s in this place of a path; '
               'it has to be %(expected)s.')


class ScopeNotFound(NotFound):
    message = ("There are no policies of %(scope)s '%(id)s': the only id of "
               "%(scope)s is '%(default)s'.")


class ScopedPolicyNotFound(NotFound):
    message = "No policy is set for %(scope)s '%(id)s'."


class TenantNotFound(NotFound):
    message = "Project '%(project)s' is not a tenant of Pcloud '%(pcloud)s'."


class InvalidInput(Invalid):
    message = ("%(path)s, %(spot)s, %(column)s: '%(value)s' is not right; it "
               'has to be %(expected)s.')


class InvalidOption(Invalid):
    message = ("%(option)s: '%(value)s' is not right; it has to be "
               '%(expected)s.')


class InputUnreadable(Invalid):
    message = '%(path)s cannot be used: %(reason)s.'


class InvalidSimulation(Invalid):
    message = '%(reason)s.'


class InvalidAddress(Invalid):
    message = ("'%(address)s' is not right; it has to be ADDRESS:PORT, such "
               'as 127.0.0.1:9841, [::1]:9841 or :9841.')


class LibraryMissing(Conflict):
    message = ('The library %(library)s is not installed here: pip install '
               '%(library)s, which the extra [%(extra)s] of Pcloud brings '
               'too.')


class CannotListen(Conflict):
    message = ('Nothing can be served at %(address)s: %(reason)s. Free the '
               'port, or take another address with --listen.')


class WorkerWithoutToken(PcloudError):
    """A worker cannot act in a project."""


class WorkerWithoutUser(WorkerWithoutToken):
    message = ('Scaled services do not follow: a worker cannot log in to the '
               'projects, as [service_user] in nova.conf %(reason)s.')


class WorkerIsAdmin(WorkerWithoutToken):
    message = ('Scaled services do not follow in project %(project)s: the '
               'policy context_is_admin makes the user of [service_user] in '
               'nova.conf an administrator, whatever the roles of the user '
               'are.')


class WorkerHasNoRole(WorkerWithoutToken):
    message = ('Scaled services do not follow in project %(project)s: the '
               'user of [service_user] in nova.conf cannot log in to the '
               'project (%(reason)s). Give the user the role of members in '
               'the project, or in the domain and inherited.')
