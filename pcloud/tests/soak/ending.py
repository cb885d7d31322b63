# SPDX-License-Identifier: Apache-2.0

"""The end of a run: owners remove all resources, and checks find leftovers."""

import collections
import time

from pcloud import names
from pcloud.tests.soak import actors
from pcloud.tests.soak import calls
from pcloud.tests.soak import client as soak_client
from pcloud.tests.soak import registers
from pcloud.tests.soak import rows
from pcloud.tests.soak import stage as soak_stage
from pcloud.tests.support import bulk

_PATIENCE = 5
_RATIOS = {'cpu_allocation_ratio': 'VCPU', 'ram_allocation_ratio': 'MEMORY_MB'}


def remove_pclouds(client: soak_client.Client) -> None:
    """Remove an owner's Pclouds with all hosts; count failed removals."""
    _remove(client, {'host', 'pcloud'})


def remove_rest(client: soak_client.Client) -> None:
    """Remove an owner's other resources, after the end of all Pclouds."""
    _remove(client, {'pool', 'flavor', 'attribute', 'quota', 'policy'})


def _remove(client: soak_client.Client, kinds: set[str]) -> None:
    """Remove an owner's registers of some kinds through the API."""
    client.make([])
    idle, last = 0, {}
    while idle < _PATIENCE and (wanted := {
            register: value for register, value in client.values.items()
            if register[1] in kinds}):
        before = client.values
        for call in _removals(wanted, client.project):
            outcome, = client.make([call])
            last[call.kind] = outcome.says()
        if client.values == before:
            idle += 1
            time.sleep(1)
        else:
            idle = 0
    for anchor in {register[0] for register in client.values
                   if register[1] in kinds}:
        left = {register[1:]: value for register, value
                in client.values.items() if register[0] == anchor}
        client.stage.figures.violation(
            'stuck: its owner cannot remove it', anchor,
            f'{left}; the last answers were {list(last.values())[-3:]}')


def _removals(values: dict, project: str) -> list[calls.Call]:
    """Return calls that remove an owner's resources, hosts first."""
    found = collections.defaultdict(list)
    for (anchor, what, detail), value in sorted(values.items()):
        if what == 'host':
            if value == 'enabled':
                found[0].append(calls.set_state(anchor, detail, 'disabled'))
            found[1].append(calls.remove_host(
                anchor, detail.removeprefix('*'), value))
        elif what == 'pcloud':
            found[2].append(calls.delete_pcloud(anchor, has_hosts=True))
        elif what == 'pool':
            found[3].append(calls.empty_pool(anchor, detail))
        elif what == 'flavor':
            found[4].append(calls.delete_flavor(anchor, has_hosts=True))
        elif what == 'attribute':
            found[5].append(calls.delete_attribute(anchor, [detail]))
        elif what == 'quota':
            found[5].append(calls.reset_quota(anchor))
        elif what == 'policy' and anchor == project:
            found[5].append(calls.delete_policy('project', anchor, True))
    return [call for _, group in sorted(found.items()) for call in group]


def check_audit(stage: soak_stage.Stage) -> None:
    """Let audit repair once; a second audit must find nothing."""
    status, findings = actors.run_audit(stage, '--fix')
    stage.figures.count(f'audit --fix at the end -> {status}')
    for finding in findings:
        stage.figures.count(f'audit at the end: {finding["kind"]}')
    status, findings = actors.run_audit(stage)
    if status != 0:
        stage.figures.violation(
            'audit is not clean', f'exit {status}', '; '.join(
                f'{finding["kind"]} {finding["aggregate"]} '
                f'{finding["message"]}' for finding in findings[:5]))


def check_in_force(stage: soak_stage.Stage, reader: rows.Reader) -> None:
    """Compare Placement with Pclouds, without hosts that are due."""
    stage.proxies.wait_until_passed()
    reader.wait_until_settled()
    found = reader.aggregates(f'({rows.CLOSED}) OR a.name = %(journal)s',
                              {'journal': rows.JOURNAL})
    due = rows.due_hosts(found)
    members = set(reader.placement())
    ratios = {(node, name): ratio for node, name, ratio in reader.ratios()}
    for each in found:
        for host in each.hosts - due:
            node = host + bulk.NODE_SUFFIX
            if (node, each.uuid) not in members:
                stage.figures.violation('not in Placement, and not due',
                                        host, each.name)
            for ratio, name in _RATIOS.items():
                wanted = each.metadata.get(ratio)
                if wanted and float(wanted) != ratios[node, name]:
                    stage.figures.violation(
                        'ratio not in force, and not due', host,
                        f'{name} {ratios[node, name]} in {each.name}, which '
                        f'has {wanted}')


def check_placement(stage: soak_stage.Stage, reader: rows.Reader,
                    ratios: list[tuple[str, str, float]]) -> None:
    """Compare Placement with the rows, and ratios with the start's ratios."""
    # All these hosts are in a further aggregate, of which Nova knows nothing.
    wanted = {(host + bulk.NODE_SUFFIX, uuid)
              for each in reader.aggregates(rows.CLOSED)
              for host in each.hosts
              for uuid in (each.uuid, names.CLOSED_UUID)}
    there = set(reader.placement())
    for node, uuid in there - wanted:
        stage.figures.violation('left in Placement', node, f'in {uuid}')
    for node, uuid in wanted - there:
        stage.figures.violation('missing in Placement', node, f'in {uuid}')
    for node, name, ratio in set(reader.ratios()) - set(ratios):
        stage.figures.violation('ratio not given back', f'{node} {name}',
                                f'{ratio}')


def check_services(stage: soak_stage.Stage, reader: rows.Reader,
                   services: list[tuple[str, int]]) -> None:
    """Compare the compute services with the state at the start."""
    for host, disabled in set(reader.services()) - set(services):
        if host in stage.swinging:
            continue
        stage.figures.violation(
            'compute service left the other way round', host,
            'disabled' if disabled else 'enabled')


def check_rows(stage: soak_stage.Stage, reader: rows.Reader) -> None:
    """Find remaining Pclouds, and policies of deleted Pclouds."""
    for each in reader.aggregates(rows.CLOSED):
        if not each.name.startswith(rows.POOL):
            stage.figures.violation(
                'Pcloud left at the end', each.name,
                f'{registers.hosts(each)}')
    for each in reader.aggregates('a.name LIKE "Pcloud:policy:pcloud:%%"'):
        stage.figures.violation('policy of a Pcloud left at the end',
                                each.name, f'{each.metadata}')
