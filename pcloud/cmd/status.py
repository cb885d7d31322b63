# SPDX-License-Identifier: Apache-2.0

"""``pcloud-status upgrade check``: does Nova load Pcloud correctly?"""

import argparse
from collections.abc import Mapping
from collections.abc import Sequence
import os
import sys
import time

try:
    from nova import monkey_patch
except ImportError:
    sys.exit("pcloud-status runs where Nova is installed: pip install "
             "'.[nova]' in a clone of the repository")

# Threads, as in Nova's newer commands; older releases take no argument.
os.environ.setdefault('OS_NOVA_DISABLE_EVENTLET_PATCHING', '1')
monkey_patch.patch()

# Nova chooses the kind of threads before other modules are imported.
from nova import config  # noqa: E402
from nova import context  # noqa: E402
from nova.db.api import api as api_db  # noqa: E402
from nova import version  # noqa: E402
from oslo_config import cfg  # noqa: E402
from oslo_db import exception as db_exc  # noqa: E402
from oslo_upgradecheck import upgradecheck  # noqa: E402
from packaging import version as packaging_version  # noqa: E402

import nova.conf  # noqa: E402
from nova.scheduler import filters  # noqa: E402
from nova.scheduler import weights  # noqa: E402
from pcloud.backend.changes import journal  # noqa: E402
from pcloud.backend import limits  # noqa: E402
from pcloud.backend import outages  # noqa: E402
from pcloud.backend import unified_limits  # noqa: E402
from pcloud.cmd import api_pipelines  # noqa: E402
from pcloud.cmd import closed_pipe  # noqa: E402
from pcloud.cmd import internal_hints  # noqa: E402
from pcloud.cmd import release  # noqa: E402
from pcloud import conf  # noqa: E402
from pcloud import exception  # noqa: E402
from pcloud.explain import loading  # noqa: E402
from pcloud.rules import looks  # noqa: E402
from pcloud.rules.moving import blockers  # noqa: E402
from pcloud.scheduler import prefilter  # noqa: E402

CONF = nova.conf.CONF

_FILTERS = 'pcloud.scheduler.filters.all_filters'
_NOVA_FILTERS = 'nova.scheduler.filters.all_filters'
_PCLOUD_FILTER = 'pcloud.scheduler.filters.pcloud'
# The first releases of each series in which no hint skips the filters.
_SAFE = {32: '32.2.1', 33: '33.0.2'}
_OLDEST, _NEWEST = '32.2.1', 34


def _result(
    code: upgradecheck.Code, details: str | None = None,
) -> upgradecheck.Result:
    return upgradecheck.Result(code, details)


class Checks(upgradecheck.UpgradeCommands):
    """The checks of the configuration of this machine."""

    def check_nova_version(self) -> upgradecheck.Result:
        """The release of Nova is supported and safe."""
        nova_version = version.version_string()
        release = packaging_version.Version(nova_version)
        oldest = _SAFE.get(release.major, _OLDEST)
        if release < packaging_version.Version(oldest):
            return _result(
                upgradecheck.Code.FAILURE,
                f'Nova {nova_version} lets any project skip all scheduler '
                f'filters with a hint (OSSA-2026-022); {oldest} or later does '
                f'not.')
        if release.major > _NEWEST:
            return _result(
                upgradecheck.Code.WARNING,
                f'Nova {nova_version} is newer than what Pcloud is tested '
                f'with ({_NEWEST}).')
        return _result(upgradecheck.Code.SUCCESS)

    def check_internal_hints(self) -> upgradecheck.Result:
        """Nova takes its internal hints from nobody."""
        if internal_hints.reach_scheduler():
            return _result(
                upgradecheck.Code.FAILURE,
                f'Nova {version.version_string()} lets any project skip all '
                'scheduler filters with the hint _nova_check_type '
                '(OSSA-2026-022). Of releases, 32.2.1, 33.0.2, 34 and what '
                'comes after them in their series do not; a development build '
                'does not when it has commit 9666894b46.')
        return _result(upgradecheck.Code.SUCCESS)

    def check_filter(self) -> upgradecheck.Result:
        """The scheduler finds all filters, PcloudFilter among them."""
        group = CONF.filter_scheduler
        found, broken = loading.classes(
            filters.HostFilterHandler(), group.available_filters)
        # Of two classes of one name, Nova takes the last.
        classes = {class_.__name__: class_ for class_ in found}
        if getattr(classes.get('PcloudFilter'), '__module__', '') != (
                _PCLOUD_FILTER):
            return _result(
                upgradecheck.Code.FAILURE,
                f'Add "available_filters = {_FILTERS}" to '
                '[filter_scheduler]; without it neither the filter nor the '
                'request filter in front of Placement is loaded.')
        if 'PcloudFilter' not in group.enabled_filters:
            return _result(
                upgradecheck.Code.FAILURE,
                'Add PcloudFilter to [filter_scheduler] enabled_filters.')
        missing = [name for name in group.enabled_filters
                   if name not in classes]
        _, failed = loading.instances(
            class_ for name, class_ in classes.items()
            if name in group.enabled_filters)
        return _loaded('available_filters', broken | failed,
                       _missing(missing, group.available_filters))

    def check_filter_order(self) -> upgradecheck.Result:
        """What must be is chosen before what is preferred."""
        enabled = CONF.filter_scheduler.enabled_filters
        last = {name: place for place, name in enumerate(enabled)}
        if last.get('ConstraintsFilter', -1) > last.get(
                'LocalityFilter', len(enabled)):
            return _result(
                upgradecheck.Code.WARNING,
                'LocalityFilter comes before ConstraintsFilter in '
                '[filter_scheduler] enabled_filters: of a request with both '
                'near and a constraint of max, near counts first, and max '
                'only among the hosts that are near. Put LocalityFilter '
                'after ConstraintsFilter.')
        return _result(upgradecheck.Code.SUCCESS)

    def check_request_filter(self) -> upgradecheck.Result:
        """The filters that the scheduler loads register the request filter."""
        loading.classes(filters.HostFilterHandler(),
                        CONF.filter_scheduler.available_filters)
        if not prefilter.is_registered():
            return _result(
                upgradecheck.Code.FAILURE,
                'The request filter is not active, so Placement may return '
                f'only hosts that the filter drops; {_FILTERS} in '
                '[filter_scheduler] available_filters brings it.')
        return _result(upgradecheck.Code.SUCCESS)

    def check_weighers(self) -> upgradecheck.Result:
        """The scheduler finds all weighers, Nova's own among them."""
        names = CONF.filter_scheduler.weight_classes
        classes, broken = loading.classes(weights.HostWeightHandler(), names)
        _, failed = loading.instances(classes)
        if not (broken or failed or any(
                class_.__module__.startswith('nova.') for class_ in classes)):
            return _result(
                upgradecheck.Code.WARNING,
                f'[filter_scheduler] weight_classes is {", ".join(names)}: '
                'Nova\'s own weighers are not among them. It is one list, '
                'separated by commas; of two lines only the last counts.')
        return _loaded('weight_classes', broken | failed)

    def check_paste(self) -> upgradecheck.Result:
        """All ways to the compute API have the filter behind keystonecontext.

        Which file nova-api loads depends on how nova-api is started: the file
        of the option, or the file in the folder of the WSGI application.
        """
        path = CONF.find_file(CONF.wsgi.api_paste_config)
        by_wsgi = os.path.join(
            os.environ.get('OS_NOVA_CONFIG_DIR', '/etc/nova'),
            'api-paste.ini')
        paths = {os.path.realpath(each): each for each in (by_wsgi, path)
                 if each and os.path.exists(each)}
        if not paths:
            return _result(
                upgradecheck.Code.WARNING,
                f'{CONF.wsgi.api_paste_config} is not on this machine; ask '
                'again where nova-api runs.')
        results = [_judged(each) for each in paths.values()]
        return max(results, key=lambda result: result.code)

    def check_ratios(self) -> upgradecheck.Result:
        """nova-compute keeps the allocation ratios that Pcloud sets."""
        pinned = [name for name in ('cpu_allocation_ratio',
                                    'ram_allocation_ratio')
                  if getattr(CONF, name)]
        if pinned:
            return _result(
                upgradecheck.Code.WARNING,
                f'{" and ".join(pinned)} in nova.conf: nova-compute sets the '
                'ratio of its hosts back to that, so the ratios of a Pcloud '
                'will not last. Use initial_cpu_allocation_ratio and '
                'initial_ram_allocation_ratio instead.')
        return _result(upgradecheck.Code.SUCCESS)

    def check_worker(self) -> upgradecheck.Result:
        """A worker looks at what is due."""
        try:
            look = looks.Look.known(
                journal.look(context.get_admin_context()))
        except (*outages.ANY, db_exc.CantStartEngineError) as error:
            return _result(
                upgradecheck.Code.WARNING,
                'Whether a worker looks cannot be read from the database of '
                f"Nova's API: {str(error) or type(error).__name__}")
        seen = None if look is None else look.at
        if looks.is_recent(seen, time.time()):
            return _result(upgradecheck.Code.SUCCESS)
        _, reason = blockers.without_worker(seen)
        return _result(upgradecheck.Code.WARNING, (
            f'Of drains, maintenances, rebalances and scaled services, '
            f'{reason}.'))

    def check_limits(self) -> upgradecheck.Result:
        """Keystone tells the limits of units where it is to keep them."""
        if limits.is_kept():
            return _result(upgradecheck.Code.SUCCESS)
        try:
            default = unified_limits.registered()
        except exception.LimitsSilent as error:
            return _result(
                upgradecheck.Code.FAILURE,
                '[pcloud] quota_driver is unified, and Keystone does not tell '
                f'limits: {error.details["reason"]}. Until then no project '
                'gets hosts; see [oslo_limit].')
        if default is None:
            return _result(
                upgradecheck.Code.WARNING,
                '[pcloud] quota_driver is unified, and Keystone has no '
                f'registered limit of {unified_limits.RESOURCE} for the '
                'service and region of [oslo_limit]: projects without a limit '
                'of their own get no hosts.')
        return _result(upgradecheck.Code.SUCCESS)

    _upgrade_checks = (
        ('Nova version', check_nova_version),
        ('Internal hints', check_internal_hints),
        ('Scheduler filter', check_filter),
        ('Filter order', check_filter_order),
        ('Request filter', check_request_filter),
        ('Scheduler weighers', check_weighers),
        ('API filter', check_paste),
        ('Allocation ratios', check_ratios),
        ('Worker', check_worker),
        ('Unified limits', check_limits),
    )


def _missing(names: Sequence[str], available: Sequence[str]) -> str:
    """Return which filters are in no list, and what would bring them."""
    if not names:
        return ''
    advice = '' if _NOVA_FILTERS in available else (
        f'. Add "available_filters = {_NOVA_FILTERS}": a list that is set '
        'replaces that of Nova')
    return (f'{", ".join(names)} of enabled_filters: in none of '
            f'{", ".join(available)}{advice}')


def _loaded(
    option: str, broken: Mapping[str, str], missing: str = '',
) -> upgradecheck.Result:
    """Return whether nova-scheduler starts with what an option loads.

    :param broken: name -> reason, for what cannot be loaded or made
    :param missing: what is not there, or '' when nothing is missing
    """
    reasons = [f'{name} in {option} cannot be loaded: {reason}'
               for name, reason in broken.items()]
    if missing:
        reasons.append(missing)
    if not reasons:
        return _result(upgradecheck.Code.SUCCESS)
    return _result(
        upgradecheck.Code.FAILURE,
        'nova-scheduler cannot start with its [filter_scheduler]. '
        f'{"; ".join(reasons)}.')


def _judged(path: str) -> upgradecheck.Result:
    """Judge one api-paste.ini."""
    try:
        pipelines = api_pipelines.of_compute(path)
    except Exception as error:  # Whatever PasteDeploy and factories raise.
        return _result(
            upgradecheck.Code.FAILURE,
            f'{path} cannot be read: {str(error) or type(error).__name__}')
    if not pipelines:
        return _result(
            upgradecheck.Code.FAILURE,
            f'{path} leads nowhere to the compute API of Nova.')
    open_ = [each.section for each in pipelines if not each.is_guarded]
    if open_:
        return _result(
            upgradecheck.Code.FAILURE,
            f'{path} does not have pcloud.api:filter_factory behind '
            f'keystonecontext in: {", ".join(open_)}.')
    unseen = [f'{", ".join(each.unseen)} in {each.section}'
              for each in pipelines if each.unseen]
    if unseen:
        return _result(
            upgradecheck.Code.WARNING,
            f'{path} has filters behind Pcloud\'s: {"; ".join(unseen)}. What '
            'they change in a request, Pcloud does not check; put Pcloud\'s '
            'filter right before the application.')
    late = [f'{", ".join(each.late_audits)} in {each.section}'
            for each in pipelines if each.late_audits]
    if late:
        return _result(
            upgradecheck.Code.WARNING,
            f'{path} has an audit filter behind Pcloud\'s: '
            f'{"; ".join(late)}. The audit trail has no event of the calls '
            'that Pcloud answers; put the audit filter before Pcloud\'s.')
    return _result(upgradecheck.Code.SUCCESS)


def build_parser() -> argparse.ArgumentParser:
    """Return a parser of the command line, from which completions are made.

    The command itself is read by oslo.config.
    """
    parser = argparse.ArgumentParser(
        prog='pcloud-status',
        description='Check whether Nova loads Pcloud correctly.')
    release.add_option(parser)
    parser.add_argument(
        '--config-file', metavar='PATH', action='append',
        help='a file of configuration; may be given several times')
    _add_commands(parser.add_subparsers(dest='command', title='Commands'))
    return parser


def _add_commands(subparsers: argparse._SubParsersAction) -> None:
    subparsers.required = True
    upgrade = subparsers.add_parser(
        'upgrade', help='look over the configuration')
    upgrade.add_argument('check', choices=['check'])
    upgrade.add_argument('--json', action='store_true',
                         help='print the results as JSON')
    upgrade.set_defaults(action_fn=Checks().check)


@closed_pipe.ends_quietly
def main() -> int:
    """Run the checks.

    :returns: 0 when all is well, 1 for warnings, 2 for failures
    """
    release.answer('pcloud-status', sys.argv[1:])
    CONF.register_cli_opt(cfg.SubCommandOpt(
        'command', title='Commands', handler=_add_commands))
    conf.register_opts(CONF)
    try:
        config.parse_args(sys.argv, configure_db=False, init_rpc=False,
                          prog='pcloud-status')
    except cfg.Error as error:
        return _refuse(str(error))
    if not (CONF.config_file or CONF.config_dir):
        return _refuse('no configuration was found; --config-file takes the '
                       'nova.conf that is to be checked')
    # As `pcloud-manage`: to wait for a database tells the user nothing.
    CONF.set_override('max_retries', 0, group='api_database')
    api_db.configure(CONF)
    # The library prints JSON when this has the option.
    upgradecheck.CONF = CONF
    return upgradecheck.run(CONF)


def _refuse(reason: str) -> int:
    # The status 1 would be taken for a warning.
    print(f'pcloud-status: {reason}', file=sys.stderr)
    return int(upgradecheck.Code.FAILURE)


if __name__ == '__main__':
    sys.exit(main())
