# SPDX-License-Identifier: Apache-2.0

"""Metrics of a real cloud, printed and served."""

import concurrent.futures
import json
import os
import pathlib
import re
import selectors
import threading
from unittest import mock
import urllib.error
import urllib.request

import fixtures
from nova import conf as nova_conf
from oslo_db import exception as db_exc
from oslo_utils import fixture as utils_fixture
from oslo_utils import timeutils
from placement import db_api as placement_db
import prometheus_client
from prometheus_client import parser

from pcloud.audit import all_checks
from pcloud.backend.aggregates import pool_rows
from pcloud.counters import allocations
from pcloud.metrics import addresses
from pcloud.metrics import audits
from pcloud.metrics import collector
from pcloud.metrics import serving
from pcloud.objects.changing_hands import allocation
from pcloud.tests.functional.quick import test_cells
from pcloud.tests.functional.quick import test_draining
from pcloud.tests.functional.quick import test_growing_pcloud
from pcloud.tests.functional.quick import test_settling
from pcloud.tests.support import base
from pcloud.tests.support import bulk
from pcloud.tests.support import counting
from pcloud.tests.support import outages
from pcloud.tests.support import shared_cloud
from pcloud.tests.support import tenancy

CONF = nova_conf.CONF


def exposition(**options):
    """Return the text that a scrape returns."""
    made = collector.Collector(CONF.pcloud.metrics_directory, **options)
    return prometheus_client.generate_latest(
        collector.registry(made)).decode()


def samples(text):
    """Return the samples of an exposition: ``name{label="value"} -> value``.

    The samples of a value that is not a number of Prometheus fail.
    """
    return {
        sample.name + ('{%s}' % ','.join(
            f'{name}={value}' for name, value in sample.labels.items())
            if sample.labels else ''): sample.value
        for family in parser.text_string_to_metric_families(text)
        for sample in family.samples}


def hosts(found):
    """Return the samples of pcloud_hosts that are not 0."""
    return {name.removeprefix('pcloud_hosts'): value
            for name, value in found.items()
            if name.startswith('pcloud_hosts{') and value}


def named(flavor, zone, state):
    """Return the labels of a sample of pcloud_hosts."""
    return (f'{{availability_zone={zone},host_flavor={flavor},'
            f'state={state}}}')


class GaugesTest(test_draining.DrainingTestCase):
    """What is read from rows."""

    def test_hosts_by_state(self):
        found = samples(exposition())
        self.assertEqual({named('gpu', 'az1', 'allocated'): 2,
                          named('gpu', 'az1', 'free'): 1}, hosts(found))
        # What is not there is 0, and not missing.
        self.assertEqual(0, found['pcloud_hosts' + named(
            'gpu', 'az1', 'settling')])
        free, = {*self.hosts} - {*self.real.values()}
        self.disable_service(free)
        self.assertEqual({named('gpu', 'az1', 'allocated'): 2,
                          named('gpu', 'az1', 'unavailable'): 1},
                         hosts(samples(exposition())))
        self.assertEqual(
            {f'pcloud_cell_up{{cell=cell1,uuid='
             f'{self.cell_mappings["cell1"].uuid}}}': 1},
            {name: value for name, value in found.items()
             if name.startswith('pcloud_cell_up')})

    def test_drains(self):
        def seen():
            found = samples(exposition())
            return [found[f'pcloud_drains{{state={state}}}']
                    for state in ('open', 'overdue')]

        self.assertEqual([0, 0], seen())
        looked = samples(exposition())['pcloud_worker_seen_timestamp_seconds']
        self.assertLess(abs(looked - timeutils.utcnow_ts()), 3600)
        deadline = timeutils.utcnow().replace(
            microsecond=0) + test_draining.HOUR
        self.drain('a', deadline=f'{deadline.isoformat()}Z')
        self.drain('b')
        self.assertEqual([2, 0], seen())
        self.useFixture(utils_fixture.TimeFixture(
            timeutils.utcnow() + 2 * test_draining.HOUR))
        self.assertEqual([1, 1], seen())
        self.set_metadata(**{self.key('a'): 'no drain'})
        self.assertEqual([1, 0], seen())
        # Somebody has enabled the host by hand, and left the drain.
        self.set_metadata(**{
            self.state_key('b'): 'enabled'})
        self.assertEqual([0, 0], seen())

    def test_projects(self):
        def seen(most):
            return {name.removeprefix('pcloud_units_in_use'): value
                    for name, value in samples(
                        exposition(projects=most)).items()
                    if name.startswith('pcloud_units')}

        self.assertEqual({}, seen(0))
        self.add_host(self.bob, self.make_pcloud(self.bob), 'x', 'gpu')
        alice, bob = (f'{{project_id={each}}}'
                      for each in (base.ALICE, base.BOB))
        self.assertEqual({alice: 2, '{project_id=}': 1}, seen(1))
        self.assertEqual({alice: 2, bob: 1, '{project_id=}': 0}, seen(2))
        self.assertEqual({alice: 2, bob: 1, '{project_id=}': 0}, seen(9))
        for user, project in ((self.alice, base.ALICE),
                              (self.bob, base.BOB)):
            self.assertEqual(
                seen(2)[f'{{project_id={project}}}'],
                user.get_json(f'/os-pcloud-quotas/{project}')[
                    'quota']['units']['in_use'])

    def test_hosts_held(self):
        def seen(most):
            return {name.removeprefix('pcloud_hosts_held'): value
                    for name, value in samples(
                        exposition(projects=most)).items()
                    if name.startswith('pcloud_hosts_held')}

        self.assertEqual({}, seen(0))
        self.add_host(self.bob, self.make_pcloud(self.bob), 'x', 'gpu')
        alice, others = (f'{{host_flavor=gpu,project_id={each}}}'
                         for each in (base.ALICE, ''))
        self.assertEqual({alice: 2, others: 1}, seen(1))

    def test_nothing_names_a_host_or_a_pcloud(self):
        self.drain('a')
        text = exposition(projects=5, audited=self._audited())
        for secret in (*self.hosts, self.pcloud, 'mine', 'hv.example.org'):
            self.assertNotIn(secret, text)

    def _audited(self):
        self.useFixture(fixtures.MockPatchObject(all_checks, 'SETTLE', 0))
        audited = audits.Audits()
        audited.make()
        return audited

    def test_audit(self):
        self.assertNotIn('pcloud_audit', exposition())
        before = exposition(audited=audits.Audits())
        self.assertNotIn('pcloud_audit_timestamp_seconds ', before)
        self.assertNotIn('audit', before)
        self.set_metadata(**{self.state_key('a'): None})
        audited = self._audited()
        found = samples(exposition(audited=audited))
        self.assertEqual(1, found[
            'pcloud_audit_findings{kind=host-without-state}'])
        self.assertEqual(1, found['pcloud_up{part=audit}'])
        self.assertGreater(found['pcloud_audit_timestamp_seconds'], 1e9)
        with fixtures.MockPatchObject(
                all_checks, 'find', side_effect=db_exc.DBError()):
            for _ in range(3):
                audited.make()
        self.assertEqual(1, self.stdlog.logger.output.count(
            'The audit has failed.'))
        found = samples(exposition(audited=audited))
        self.assertEqual(0, found['pcloud_up{part=audit}'])
        self.assertEqual([], [
            name for name in found if name.startswith('pcloud_audit')])


class SettlingTest(test_settling.SettlingTestCase):
    """A host on which a request from before may still land."""

    def test_oldest(self):
        self.assertEqual(
            0, samples(exposition())['pcloud_oldest_settling_seconds'])
        _, host = self.start(self.alice)
        self.disable_service(host)
        other, *_ = {*self.hosts} - {host}
        self.disable_service(other)
        self.admin.call_json('POST', '/os-host-flavors/gpu/hosts',
                             {'host': {'host': other}})
        self.assertEqual({named('gpu', 'az1', 'settling'): 1},
                         hosts(samples(exposition())))
        self.useFixture(utils_fixture.TimeFixture(
            timeutils.utcnow() + test_draining.HOUR / 2))
        found = samples(exposition())
        self.assertEqual({named('gpu', 'az1', 'settling'): 1}, hosts(found))
        self.assertAlmostEqual(
            1800, found['pcloud_oldest_settling_seconds'], delta=120)
        # Nothing is awaited any more: whoever asks for the host gets it.
        self.useFixture(utils_fixture.TimeFixture(
            timeutils.utcnow() + test_settling.A_WHILE))
        found = samples(exposition())
        self.assertEqual({named('gpu', 'az1', 'free'): 1}, hosts(found))
        self.assertEqual(0, found['pcloud_oldest_settling_seconds'])


class CellsTest(test_cells.CellsTestCase):
    """What is in a silent cell is left out."""

    def furnish(self):
        super().furnish()
        self.admin.call_json('POST', '/os-host-flavors/first/hosts', {
            'host': {'host': self._disabled('node-2')}})
        self.admin.call_json('POST', '/os-host-flavors/second/hosts', {
            'host': {'host': self._disabled('node-4')}})

    def _disabled(self, host):
        self.disable_service(host)
        return host

    def test_silent_cell(self):
        taken = {named('first', 'az1', 'allocated'): 1,
                 named('second', 'az1', 'allocated'): 1}
        free = named('first', 'az2', 'free')
        dead = 'pcloud_hosts' + named('second', 'az2', 'free')
        found = samples(exposition())
        self.assertEqual({**taken, free: 1, named('second', 'az2', 'free'): 1},
                         hosts(found))
        self.outage()
        silent = samples(exposition())
        self.assertEqual({**taken, free: 1}, hosts(silent))
        self.assertNotIn(dead, silent)
        self.assertNotIn('pcloud_hosts' + named(
            'second', 'az2', 'unavailable'), silent)
        # Of a zone in which no host may be free 0 is the truth.
        self.assertEqual(0, silent['pcloud_hosts' + named(
            'second', 'az1', 'free')])
        self.assertEqual({test_cells.ALIVE: 1, test_cells.DEAD: 0}, {
            re.search('cell=([^,]*)', name)[1]: value
            for name, value in silent.items()
            if name.startswith('pcloud_cell_up')})


class CountersTestCase(shared_cloud.SharedCloudTestCase):
    """Calls of nova-api that are counted."""

    hosts = {'node-1': 'az1', 'node-2': 'az1'}

    def furnish(self):
        super().furnish()
        self.make_pool('gpu', *self.hosts)
        self.pcloud = self.make_pcloud(self.alice)

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(
            fixtures.TempDir()).path, 'metrics')
        self.flags(metrics_directory=str(self.folder), group='pcloud')

    def ask(self, name, code=201, **more):
        """Ask for a host."""
        answer = self.alice.call(
            'POST', f'/os-pclouds/{self.pcloud}/hosts',
            {'host': {'name': name, **(more or {'host_flavor': 'gpu'})}})
        self.assertEqual(code, answer.status_code, answer.text)

    def counted(self):
        """Return the counters that are not 0."""
        return {name: value for name, value in samples(exposition()).items()
                if name.startswith('pcloud_allocation') and value and
                '_created' not in name and '_seconds' not in name}


class CountersTest(CountersTestCase):

    def test_allocations_and_refusals(self):
        self.assertEqual({}, self.counted())
        self.ask('a')
        self.ask('A', 409)
        self.ask('b', constraints='cpu=1')
        self.ask('c', 409)
        self.ask('c', 409, constraints='cpu=1')
        self.ask('c', 404, host_flavor='no-such-flavor')
        refusals = 'pcloud_allocation_refusals_total{host_flavor=%s,reason=%s}'
        self.assertEqual({
            'pcloud_allocations_total{cause=call,host_flavor=gpu}': 2,
            refusals % ('gpu', 'name_in_use'): 1,
            refusals % ('gpu', 'no_free_host'): 1,
            refusals % ('', 'nothing_fits'): 1}, self.counted())
        found = samples(exposition())
        self.assertEqual(2, found['pcloud_allocation_seconds_count'])
        self.assertEqual(2, found['pcloud_allocation_seconds_bucket{le=+Inf}'])
        self.assertGreater(found['pcloud_allocation_seconds_sum'], 0)
        self.assertEqual(1, found['pcloud_up{part=counters}'])
        self.assertNotIn('no-such-flavor', exposition())

    def test_quota(self):
        self.flags(quota_units=1, group='pcloud')
        self.ask('a')
        self.ask('b', 403)
        self.assertEqual(1, self.counted()[
            'pcloud_allocation_refusals_total{host_flavor=gpu,reason=quota}'])

    def test_retries(self):
        self.flags(allocation_backoff=0, group='pcloud')
        with mock.patch.object(allocation, '_take', side_effect=[
                allocation.Lost('for a test', 'node-1'), mock.DEFAULT],
                wraps=allocation._take):
            self.ask('a')
        self.assertEqual(
            {'pcloud_allocations_total{cause=call,host_flavor=gpu}': 1,
             'pcloud_allocation_retries_total{host_flavor=gpu}': 1},
            self.counted())

    def test_off(self):
        self.flags(metrics_directory=None, group='pcloud')
        self.ask('a')
        self.assertFalse(self.folder.exists())
        self.assertNotIn('pcloud_allocation', exposition())
        self.assertNotIn('part="counters"', exposition())

    def test_nothing_fails_for_the_counting(self):
        self.folder.write_text('This is no folder.')
        self.ask('a')
        self.ask('b')
        self.assertEqual(1, self.stdlog.logger.output.count(
            'This process counts nothing in'))

    def test_files_that_are_no_counters(self):
        self.ask('a')
        (self.folder / 'counter_9.db').write_bytes(b'@' * 64)
        for _ in range(2):
            found = samples(exposition())
            self.assertEqual(0, found['pcloud_up{part=counters}'])
            self.assertEqual({named('gpu', 'az1', 'allocated'): 1,
                              named('gpu', 'az1', 'free'): 1}, hosts(found))
        self.assertNotIn('pcloud_allocations', exposition())

    def test_two_processes(self):
        """Another process counts an allocation of its own."""
        self.ask('a')
        child = os.fork()
        if not child:
            status = 1
            try:
                with allocations.allocation('gpu', 1):
                    allocations.RETRIES.add(['gpu'])
                status = 0
            finally:
                os._exit(status)
        self.assertEqual(0, os.waitpid(child, 0)[1])
        self.assertEqual(
            {'pcloud_allocations_total{cause=call,host_flavor=gpu}': 2,
             'pcloud_allocation_retries_total{host_flavor=gpu}': 1},
            self.counted())
        self.assertEqual(2, len(list(self.folder.glob('counter_*.db'))))


class GrowthTest(test_growing_pcloud.GrowTestCase):
    """Hosts that join a Pcloud for a launch."""

    def test_growth(self):
        folder = self.useFixture(fixtures.TempDir()).path
        self.flags(metrics_directory=folder, group='pcloud')
        self.grow(most=1)
        self.started()
        self.assertEqual(409, self.launch(min_count=4).status_code)
        found = samples(exposition())
        self.assertEqual(1, found[
            'pcloud_allocations_total{cause=growth,host_flavor=gpu}'])
        self.assertEqual(1, found[
            'pcloud_allocation_refusals_total{host_flavor=gpu,'
            'reason=growth_limit}'])
        # Only calls for hosts are timed.
        self.assertEqual(0, found['pcloud_allocation_seconds_count'])


class NamesTest(CountersTestCase):
    """Documents and dashboard name what a scrape shows, and nothing else."""

    ROOT = pathlib.Path(__file__).parents[4]

    def setUp(self):
        super().setUp()
        self.ask('a')
        self.write_metadata(self.pcloud, **{'pcloud:drain:node-9': 'no drain'})
        self.useFixture(fixtures.MockPatchObject(all_checks, 'SETTLE', 0))
        audited = audits.Audits()
        audited.make()
        self.families = list(parser.text_string_to_metric_families(
            exposition(projects=1, audited=audited)))
        self.labels = {}
        for family in self.families:
            for sample in family.samples:
                self.labels.setdefault(sample.name, set()).update(
                    sample.labels)
        self.page = (self.ROOT / 'doc/source/admin/metrics.rst').read_text()

    def test_table(self):
        table = {name: set(filter(None, labels.split(','))) for name, labels
                 in re.findall(r'^   \* - ``(pcloud_[a-z_]+)(?:{(.*)})?``$',
                               self.page, re.MULTILINE)}
        self.assertEqual({
            family.name + ('_total' if family.type == 'counter' else ''):
            set().union(*(sample.labels for sample in family.samples)) -
            {'le'} for family in self.families}, table)

    def test_expressions(self):
        dashboard = json.loads((
            self.ROOT / 'etc/pcloud/grafana-dashboard.json').read_text())
        used = [target['expr'] for panel in dashboard['panels']
                for target in panel['targets']]
        used += [variable['definition'] for variable
                 in dashboard['templating']['list'][1:]]
        alerts = re.findall(
            '^ +expr: (.*)$',
            (self.ROOT / 'etc/pcloud/alerts.yml').read_text(), re.MULTILINE)
        self.assertGreater(len(used), 15)
        self.assertGreater(len(alerts), 8)
        for expression in used + alerts:
            self.assertEqual([], self._faults(expression), expression)

    def _faults(self, expression):
        """Return the metrics and labels that no scrape shows."""
        plain = re.sub(r'up{job="pcloud"}', '', expression)
        names = set(re.findall(r'\bpcloud_[a-z_]+', plain))
        there = {'le', 'instance'}.union(*(
            self.labels.get(name, ()) for name in names))
        wanted = set(re.findall(r'([a-z_]+)=~?"', plain))
        for grouped in re.findall(r'\bby \(([^)]*)\)', plain):
            wanted |= set(grouped.split(', '))
        for label in re.findall(r'label_values\(\w+, (\w+)\)', plain):
            wanted.add(label)
        return sorted((names - self.labels.keys()) | (wanted - there))

    def test_faults_are_found(self):
        for wrong in ('sum(pcloud_host)', 'pcloud_hosts{zone="a"}',
                      'sum by (kind) (pcloud_hosts)'):
            self.assertNotEqual([], self._faults(wrong), wrong)
        self.assertEqual([], self._faults('sum by (state) (pcloud_hosts)'))


class QueriesTest(shared_cloud.SharedCloudTestCase):
    """A scrape costs the same for few and for many hosts."""

    own_cloud = True
    hosts = {'node-1': 'az1'}

    def _cost(self, prefix, hosts, pclouds):
        tenancy.fill(
            bulk.Rows(placement_db.get_placement_engine()), 'node-1',
            prefix, hosts, pclouds, base.ALICE, base.BOB)
        return counting.least(lambda: exposition(projects=3), 3)

    def test_scrapes_cost_the_same(self):
        self.flags(service_down_time=1000000)
        few = self._cost('small', hosts=4, pclouds=2)
        many = self._cost('large', hosts=1000, pclouds=100)
        self.assertEqual(few, many)
        # So that a change for the worse is seen here first.
        self.assertEqual(counting.Count(21, 0), many)


class ServingTest(CountersTestCase):
    """Scrapes over HTTP."""

    def setUp(self):
        super().setUp()
        # Under eventlet the selector from before would stop all threads.
        self.useFixture(fixtures.MonkeyPatch(
            'socketserver._ServerSelector', selectors.DefaultSelector))
        self.collector = collector.Collector(None)
        server = serving.bound(
            addresses.parse('127.0.0.1:0'),
            serving.App(collector.registry(self.collector)))
        stop = threading.Event()
        thread = threading.Thread(target=serving.serve, args=(server, stop))
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(stop.set)
        self.address = serving.address_of(server)

    def get(self, path='/metrics'):
        """Return the status and the text of an answer."""
        try:
            with urllib.request.urlopen(
                    f'http://{self.address}{path}') as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def test_scrape(self):
        before = samples(self.get()[1])
        self.assertEqual({named('gpu', 'az1', 'free'): 2}, hosts(before))
        self.ask('a')
        status, text = self.get()
        self.assertEqual(200, status)
        self.assertEqual({named('gpu', 'az1', 'free'): 1,
                          named('gpu', 'az1', 'allocated'): 1},
                         hosts(samples(text)))
        self.assertEqual(404, self.get('/')[0])

    def test_two_at_once_are_read_one_after_the_other(self):
        take = pool_rows.stock
        inside, most, count = [], [], []
        both = threading.Event()

        def stock(context):
            inside.append(context)
            count.append(context)
            most.append(len(inside))
            # A second reading at the same time would come within this time.
            both.wait(1)
            try:
                return take(context)
            finally:
                inside.pop()

        with fixtures.MonkeyPatch(
                'pcloud.backend.aggregates.pool_rows.stock', stock):
            with concurrent.futures.ThreadPoolExecutor() as pool:
                answers = list(pool.map(lambda _: self.get(), range(2)))
        self.assertEqual([200, 200], [status for status, _ in answers])
        self.assertEqual(answers[0][1], answers[1][1])
        self.assertEqual((2, 1), (len(count), max(most)))

    def test_outage_is_told_once(self):
        api, *_ = self.engines()
        with outages.SilentDatabase(api):
            for _ in range(3):
                status, text = self.get()
                self.assertEqual(500, status)
                self.assertNotIn('Traceback', text)
        self.assertEqual(200, self.get()[0])
        self.assertEqual(200, self.get()[0])
        told = self.stdlog.logger.output
        self.assertEqual(1, told.count('The metrics cannot be read.'))
        self.assertEqual(1, told.count('The metrics can be read again.'))
