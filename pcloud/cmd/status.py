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

"""``pcloud-status upgrade check``: does Nova load Pcloud correctly?"""

import argparse
import os
import pathlib
import re
import sys

try:
    from nova import monkey_patch
except ImportError:
    sys.exit("pcloud-status runs where Nova is installed: pip install "
             "'.[nova]' in a clone of https://opendev.org/x/pcloud")

# Threads, as in Nova's newer commands; older releases take no argument.
os.environ.setdefault('OS_NOVA_DISABLE_EVENTLET_PATCHING', '1')
monkey_patch.patch()

# Nova chooses the kind of threads before other modules are imported.
from nova import version  # noqa: E402
from oslo_config import cfg  # noqa: E402
from oslo_upgradecheck import upgradecheck  # noqa: E402
from packaging import version as packaging_version  # noqa: E402

import nova.conf  # noqa: E402
from nova import exception as nova_exception  # noqa: E402
from nova.scheduler import filters  # noqa: E402
from pcloud.cmd import closed_pipe  # noqa: E402
from pcloud.cmd import internal_hints  # noqa: E402
from pcloud.cmd import release  # noqa: E402
from pcloud import conf  # noqa: E402
from pcloud.scheduler import prefilter  # noqa: E402

CONF = nova.conf.CONF

_FILTERS = 'pcloud.scheduler.filters.all_filters'
_PIPELINES = ('openstack_compute_api_v21',
              'openstack_compute_api_v21_legacy_v2_compatible')
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
        """The scheduler loads and enables PcloudFilter."""
        group = CONF.filter_scheduler
        if _FILTERS not in group.available_filters:
            return _result(
                upgradecheck.Code.FAILURE,
                f'Add "available_filters = {_FILTERS}" to '
                '[filter_scheduler]; without it neither the filter nor the '
                'request filter in front of Placement is loaded.')
        if 'PcloudFilter' not in group.enabled_filters:
            return _result(
                upgradecheck.Code.FAILURE,
                'Add PcloudFilter to [filter_scheduler] enabled_filters.')
        return _result(upgradecheck.Code.SUCCESS)

    def check_request_filter(self) -> upgradecheck.Result:
        """The filters that the scheduler loads register the request filter."""
        try:
            filters.HostFilterHandler().get_matching_classes(
                CONF.filter_scheduler.available_filters)
        except (ImportError, nova_exception.NovaException) as error:
            return _result(
                upgradecheck.Code.FAILURE,
                '[filter_scheduler] available_filters cannot be loaded: '
                f'{error}')
        if not prefilter.is_registered():
            return _result(
                upgradecheck.Code.FAILURE,
                'The request filter is not active, so Placement may return '
                f'only hosts that the filter drops; {_FILTERS} in '
                '[filter_scheduler] available_filters brings it.')
        return _result(upgradecheck.Code.SUCCESS)

    def check_weighers(self) -> upgradecheck.Result:
        """Nova's own weighers are still configured."""
        classes = CONF.filter_scheduler.weight_classes
        if 'nova.scheduler.weights.all_weighers' not in classes:
            return _result(
                upgradecheck.Code.WARNING,
                '[filter_scheduler] weight_classes is '
                f'{", ".join(classes)}: Nova\'s own weighers are not among '
                'them. It is one list, separated by commas; of two lines '
                'only the last counts.')
        return _result(upgradecheck.Code.SUCCESS)

    def check_paste(self) -> upgradecheck.Result:
        """Both pipelines of nova-api have the filter after keystonecontext."""
        path = CONF.find_file(CONF.wsgi.api_paste_config)
        if not path:
            return _result(
                upgradecheck.Code.WARNING,
                f'{CONF.wsgi.api_paste_config} is not on this machine; ask '
                'again where nova-api runs.')
        try:
            text = pathlib.Path(path).read_text()
        except (OSError, UnicodeDecodeError) as error:
            return _result(upgradecheck.Code.FAILURE,
                           f'{path} cannot be read: {error}.')
        missing = [name for name in _PIPELINES
                   if not _has_filter(text, name)]
        if 'pcloud.api:filter_factory' not in text or missing:
            return _result(
                upgradecheck.Code.FAILURE,
                f'{path} does not have [filter:pcloud] behind keystonecontext'
                f' in: {", ".join(missing or _PIPELINES)}.')
        return _result(upgradecheck.Code.SUCCESS)

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

    _upgrade_checks = (
        ('Nova version', check_nova_version),
        ('Internal hints', check_internal_hints),
        ('Scheduler filter', check_filter),
        ('Request filter', check_request_filter),
        ('Scheduler weighers', check_weighers),
        ('API filter', check_paste),
        ('Allocation ratios', check_ratios),
    )


def _has_filter(text: str, pipeline: str) -> bool:
    section = re.search(
        rf'(?ms)^\[composite:{pipeline}\]$(.*?)(?=^\[|\Z)', text)
    return bool(section and re.search(
        r'(?m)^keystone\s*=.*\bkeystonecontext\b.*\bpcloud\b',
        section.group(1)))


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
        CONF(sys.argv[1:], project='nova', prog='pcloud-status',
             version=release.version())
    except cfg.Error as error:
        return _refuse(str(error))
    if not (CONF.config_file or CONF.config_dir):
        return _refuse('no configuration was found; --config-file takes the '
                       'nova.conf that is to be checked')
    # The library prints JSON when this has the option.
    upgradecheck.CONF = CONF
    return upgradecheck.run(CONF)


def _refuse(reason: str) -> int:
    # The status 1 would be taken for a warning.
    print(f'pcloud-status: {reason}', file=sys.stderr)
    return int(upgradecheck.Code.FAILURE)


if __name__ == '__main__':
    sys.exit(main())
