# SPDX-License-Identifier: Apache-2.0

"""The parts of a sandbox: services, and the steps before the services."""

from collections.abc import Iterable
import dataclasses
import importlib.util
import pathlib
import sys
import typing

from pcloud_sandbox.configuration import layout
from pcloud_sandbox.configuration import settings
from pcloud_sandbox import errors

NOVA_NEEDS = ('nova-setup', 'keystone', 'placement')
NEEDED = ('gunicorn', 'psutil', 'werkzeug', 'keystone', 'placement',
          'glance', 'neutron', 'nova')
DASHBOARD_NEEDED = ('openstack_dashboard', 'horizon', 'django')
HEAT_NEEDED = ('heat',)


@dataclasses.dataclass(frozen=True)
class Part:
    """One process of the sandbox.

    :ivar name: also the name of the log
    :ivar argv: the command
    :ivar says: what the user reads when the part is done
    :ivar needs: names of the parts that must be done before the start of
        this part
    :ivar url: a service with a URL is done when the URL answers; a service
        without a URL is done as soon as the process runs
    :ivar stays: whether the part is a service, which keeps running; a step
        is done when the process has ended with status 0
    :ivar works: whether the part's work is progress; a step that waits for
        other parts logs each progress instead
    :ivar environment: variables of the process beside the supervisor's
    :ivar folder: the current folder of the process; None is the sandbox's
        data folder
    """

    name: str
    argv: list[str]
    says: str
    needs: tuple[str, ...] = ()
    url: str | None = None
    stays: bool = False
    works: bool = True
    environment: dict[str, str] = dataclasses.field(default_factory=dict)
    folder: pathlib.Path | None = None


def check_installed() -> None:
    """Make sure that the packages of a sandbox's services are installed.

    :raises NotInstalled: a package is missing
    """
    _check(NEEDED, ": pip install -c constraints.txt '.[sandbox]'")


def check_dashboard_installed() -> None:
    """Make sure that Horizon is installed.

    :raises NotInstalled: a package is missing
    """
    _check(DASHBOARD_NEEDED, ', which --dashboard needs: pip install -c '
                             "constraints.txt '.[sandbox,dashboard]'")


def check_heat_installed() -> None:
    """Make sure that Heat is installed.

    :raises NotInstalled: a package is missing
    """
    _check(HEAT_NEEDED, ', which --heat needs: pip install -c '
                        "constraints.txt '.[sandbox,heat]'")


def _check(needed: Iterable[str], advice: str) -> None:
    missing = [name for name in needed
               if importlib.util.find_spec(name) is None]
    if missing:
        raise errors.NotInstalled(
            f'{", ".join(missing)} not installed{advice} in a clone of '
            'the repository')


def all_parts(where: layout.Layout,
              chosen: settings.Settings) -> list[Part]:
    """Return every part, the most urgent first."""
    directory = str(where.directory)
    nova = (_nova_processes if chosen.separate else _nova_in_one_process)(
        where, chosen)
    return [
        _own('keystone-setup', 'keystone_setup', [directory],
             says='users, projects and endpoints are there'),
        _own('nova-setup', 'nova_setup', [directory],
             says="Nova's databases are there"),
        _web(where, chosen, 'keystone', needs=('keystone-setup',)),
        _web(where, chosen, 'placement'),
        *nova,
        _web(where, chosen, 'glance'),
        _web(where, chosen, 'neutron'),
        *_catalog(where, chosen, nova[-1].name),
        *(_dashboard(where, chosen) if chosen.dashboard else ()),
        *((_web(where, chosen, 'heat', needs=('keystone-setup',)),)
          if chosen.heat else ()),
    ]


def _catalog(where: layout.Layout, chosen: settings.Settings,
             last: str) -> list[Part]:
    directory = str(where.directory)
    needs = ('keystone', 'glance', 'neutron', last)
    guest = [_own('guest-setup', 'guest_setup', [directory],
                  says='the kernel of the guests is there')
             ] if chosen.hypervisors else []
    return [*guest, _own(
        'catalog', 'catalog', [directory],
        says='image, network, flavors and zones are there',
        needs=(*needs, *(each.name for each in guest)), works=False)]


def services(where: layout.Layout,
             chosen: settings.Settings) -> list[Part]:
    """Return the parts that keep running."""
    return [part for part in all_parts(where, chosen) if part.stays]


def readers(where: layout.Layout, chosen: settings.Settings,
            section: str) -> list[Part]:
    """Return the services that read a section of nova.conf.

    Pcloud is loaded by the API and by the schedulers. Of the other sections
    nobody knows which services of Nova do not read them.
    """
    novas = [part for part in services(where, chosen)
             if part.name.split('-')[0] == 'nova']
    if section == 'pcloud':
        return [part for part in novas
                if part.name in ('nova', 'nova-worker')
                or part.name.startswith('nova-scheduler')]
    return novas


def _dashboard(where: layout.Layout,
               chosen: settings.Settings) -> list[Part]:
    return [
        _own('horizon-setup', 'dashboard_setup', [str(where.directory)],
             says='the scripts and styles of Horizon are there'),
        Part(name='horizon', argv=[sys.executable, '-m', 'gunicorn'],
             needs=('horizon-setup', 'keystone'),
             url=chosen.url('horizon'), stays=True, folder=where.dashboard,
             says=f'Horizon answers: {chosen.url("horizon")}/'),
    ]


def _nova_in_one_process(where: layout.Layout,
                         chosen: settings.Settings) -> list[Part]:
    return [_own(
        'nova', 'nova_all', [str(where.directory)],
        says=f'Nova answers, with {_hosts(chosen)}', needs=NOVA_NEEDS,
        url=chosen.url('nova'), stays=True)]


def _nova_processes(where: layout.Layout,
                    chosen: settings.Settings) -> list[Part]:
    first, second = settings.CONTROLLERS
    return [
        *(_conductor(where, cell) for cell in chosen.cell_numbers()),
        *(part for host in chosen.host_names()
          for part in _host(where, chosen, host)),
        _nova(where, 'nova-scheduler-1', 'scheduler', first),
        _nova(where, 'nova-scheduler-2', 'scheduler', second),
        _worker(where, first),
        _web(where, chosen, 'nova', needs=NOVA_NEEDS),
        _own('nova-hosts', 'nova_hosts', [str(where.directory)],
             says=f'Nova has {_hosts(chosen)}', needs=('nova',),
             works=False),
    ]


def _conductor(where: layout.Layout, cell: int) -> Part:
    name = 'nova-conductor' if cell == 1 else f'nova-conductor-cell{cell}'
    return _nova(where, name, 'conductor', settings.cell_controller(cell))


def _hosts(chosen: settings.Settings) -> str:
    return f'{chosen.hosts} host' + ('s' if chosen.hosts > 1 else '')


def hypervisor(host: str) -> str:
    """Return the name of the part that is a host with a hypervisor.

    All processes of the host end with the process of this part.
    """
    return f'hypervisor-{host}'


def _host(where: layout.Layout, chosen: settings.Settings,
          host: str) -> list[Part]:
    name, machine = f'nova-compute-{host}', hypervisor(host)
    arguments = [str(where.directory), host]
    if not chosen.hypervisors:
        return [_own(name, 'nova_compute', arguments,
                     says=f'{name} has started', needs=NOVA_NEEDS,
                     stays=True)]
    return [_own(machine, 'hypervisor', arguments,
                 says=f'{machine} has started', stays=True),
            _own(name, 'libvirt_compute', arguments,
                 says=f'{name} has started', needs=(*NOVA_NEEDS, machine),
                 stays=True)]


def _nova(where: layout.Layout, name: str, command: str, host: str) -> Part:
    """Return a service of Nova that listens to the broker alone."""
    return _command(
        name, f'nova.cmd.{command}',
        ['--config-file', str(where.etc / 'nova.conf'),
         '--config-file', str(where.host_conf(host))],
        says=f'{name} has started', needs=NOVA_NEEDS,
        stays=True)


def _worker(where: layout.Layout, host: str) -> Part:
    """Return Pcloud's worker, a process with the configuration of Nova."""
    return _command(
        'nova-worker', 'pcloud.cmd.manage',
        ['--config-file', str(where.etc / 'nova.conf'),
         '--config-file', str(where.host_conf(host)),
         'work', '--interval', str(settings.WORKER_INTERVAL)],
        says='the worker has started', needs=NOVA_NEEDS, stays=True)


def _own(
    name: str, module: str, arguments: list[str],
    **rest: typing.Any,
) -> Part:
    argv = [sys.executable, '-m', f'pcloud_sandbox.services.{module}',
            *arguments]
    return Part(name=name, argv=argv, **rest)


def _command(
    name: str, module: str, arguments: list[str],
    **rest: typing.Any,
) -> Part:
    """Return a part that calls the main function of another project.

    The script of that project need not be on the PATH.
    """
    code = f'import sys; from {module} import main; sys.exit(main())'
    argv = [sys.executable, '-c', code, *arguments]
    return Part(name=name, argv=argv, **rest)


def _web(where: layout.Layout, chosen: settings.Settings, service: str,
         needs: tuple[str, ...] = ()) -> Part:
    """Return a service under gunicorn.

    gunicorn reads the settings from the current folder. The command line
    has no settings because the services parse the command line too.
    """
    return Part(
        name=service, argv=[sys.executable, '-m', 'gunicorn'], needs=needs,
        url=chosen.url(service), stays=True, folder=where.etc / service,
        says=f'{service.capitalize()} answers',
        environment={
            f'OS_{service.upper()}_CONFIG_DIR': str(where.etc),
            'OS_NEUTRON_CONFIG_FILES': 'neutron.conf'})
