# SPDX-License-Identifier: Apache-2.0

"""The folder debian, as far as that needs no build."""

import collections
import configparser
import os
import pathlib
import re
import runpy
import subprocess
import sys

import testtools

import pcloud

ROOT = pathlib.Path(pcloud.__file__).parents[1]
DEBIAN = ROOT / 'debian'

# Names of distributions that Debian changes by more than a rule.
NAMES = {'horizon': 'django-horizon', 'openstack-heat': 'heat',
         'openstack-placement': 'placement'}
# Extras of setup.cfg, by the field that has what they need.
FIELDS = {('pcloud-common', 'Depends'): ('nova',),
          ('pcloud-common', 'Recommends'): ('metrics', 'planner'),
          ('pcloud-sandbox', 'Depends'): ('sandbox',),
          ('python3-pcloud', 'Depends'): ('sdk',),
          ('python3-pcloud-dashboard', 'Depends'): ('dashboard',),
          ('python3-pcloud-heat', 'Depends'): ('heat',)}
# Extras for tests with hypervisors have no package.
LEFT_OUT = {'hypervisors'}


def _setup():
    parser = configparser.RawConfigParser()
    parser.optionxform = str
    parser.read(ROOT / 'setup.cfg')
    return parser


def _control():
    """Return package -> field -> value, of all paragraphs."""
    packages = {}
    for paragraph in (DEBIAN / 'control').read_text().split('\n\n'):
        fields = dict(re.findall(
            r'(?m)^([\w-]+):\s*(.*(?:\n .*)*)', paragraph))
        packages[fields.get('Package', 'source')] = fields
    return packages


def _listed(ending):
    """Return (package, first word of a line) of all files with an ending."""
    return [(path.name.removesuffix(ending), line.split()[0])
            for path in sorted(DEBIAN.glob(f'*{ending}'))
            for line in path.read_text().splitlines()]


def _wanted(lines):
    """Return Debian's name -> bounds of requirements of Python.

    Single versions that are left out have no counterpart.
    """
    wanted = {}
    for line in lines:
        name, bounds = re.fullmatch(r'([\w.-]+)(.*)', line).groups()
        name = NAMES.get(name, name.removeprefix('python-'))
        wanted[f'python3-{name.lower().replace("_", "-")}'] = {
            (sign, version) for sign, version in re.findall(
                r'(>=|<)([\d.]+)', bounds)}
    return wanted


def _given(field):
    """Return name -> bounds of a field, without epochs."""
    given = collections.defaultdict(set)
    for name, sign, version in re.findall(
            r'([\w.-]+) \((>=|<<) (?:\d+:)?([^)]+)\)', field):
        given[name].add((sign.replace('<<', '<'), version))
    return given


class FilesTest(testtools.TestCase):

    def test_files_of_the_sources_are_there(self):
        named = [name for ending in ('.install', '.links', '.manpages')
                 for _, name in _listed(ending)
                 if not name.startswith(('usr/', 'doc/build/'))]
        self.assertIn('etc/pcloud/alerts.yml', named)
        self.assertEqual([], [name for name in named
                              if not (ROOT / name).exists()])

    def test_commands_are_in_one_package_each(self):
        scripts = _setup()['entry_points']['console_scripts']
        self.assertEqual(
            sorted(re.findall(r'(?m)^([\w-]+) =', scripts)),
            sorted(name.removeprefix('usr/bin/')
                   for _, name in _listed('.install')
                   if name.startswith('usr/bin/')))

    def test_python_packages_are_in_one_package_each(self):
        place = 'usr/lib/python3*/dist-packages/'
        found = [name.removeprefix(place) for _, name in _listed('.install')
                 if name.startswith(place)]
        self.assertEqual(
            sorted(['openstack_pcloud-*.dist-info', *(
                path.parent.name for path in ROOT.glob(
                    'pcloud*/__init__.py'))]), sorted(found))

    def test_data_is_in_one_package_each(self):
        """The unit of the worker is made from the template of services."""
        data = re.findall(r'(?m)^(?:.* = )?(etc/\S+?)(?:/\*)?$',
                          _setup()['files']['data_files'])
        self.assertEqual(
            sorted({*data} - {'etc/pcloud',
                              'etc/pcloud/pcloud-worker.service'}),
            sorted(name for _, name in _listed('.install')
                   if name.startswith('etc/')))

    def test_manual_pages_are_in_one_package_each(self):
        pages = runpy.run_path(str(ROOT / 'doc/source/conf.py'))['man_pages']
        self.assertEqual(
            sorted(f'doc/build/share/man/man1/{name}.{section}'
                   for _, name, _, _, section in pages),
            sorted(name for _, name in _listed('.manpages')))

    def test_each_command_has_completions(self):
        completed = collections.Counter(
            (package, re.sub(r'^_|\.fish$', '', name.rpartition('/')[2]))
            for package, name in _listed('.install')
            if name.startswith('doc/build/share/'))
        self.assertEqual(
            {(package, name.removeprefix('usr/bin/')): 3
             for package, name in _listed('.install')
             if name.startswith('usr/bin/')}, dict(completed))

    def test_each_page_of_the_dashboard_is_switched_on(self):
        self.assertEqual(
            sorted(path.name for path in (
                ROOT / 'pcloud_dashboard/enabled').glob('_[0-9]*.py')),
            sorted(pathlib.Path(name).name
                   for _, name in _listed('.install')
                   if name.startswith('pcloud_dashboard/enabled/')))


class ControlTest(testtools.TestCase):

    def test_every_extra_has_a_package(self):
        placed = [extra for extras in FIELDS.values() for extra in extras]
        self.assertEqual(
            sorted({*_setup()['extras']} - LEFT_OUT), sorted(placed))

    def test_versions_agree_with_the_requirements(self):
        control, extras = _control(), _setup()['extras']
        requirements = [
            line for line in (
                ROOT / 'requirements.txt').read_text().splitlines()
            if not line.startswith('#')]
        for (package, field), names in FIELDS.items():
            lines = [line for name in names for line in
                     extras[name].split() if '[' not in line]
            if package == 'python3-pcloud':
                lines = requirements + lines
            given = _given(control[package][field])
            for name, bounds in _wanted(lines).items():
                self.assertEqual(bounds, given[name], (package, name))

    def test_what_the_build_needs_agrees(self):
        """What is imported for the pages is what packages depend on."""
        control = _control()
        depended = {}
        for package in ('pcloud-common', 'python3-pcloud', 'pcloud-sandbox'):
            depended.update(_given(control[package]['Depends']))
        needed = _given(control['source']['Build-Depends-Indep'])
        both = {*needed} & {*depended}
        self.assertIn('python3-nova', both)
        self.assertEqual({name: depended[name] for name in both},
                         {name: needed[name] for name in both})


class WorkerTest(testtools.TestCase):

    def test_it_is_a_command(self):
        """The template of services appends options of its own."""
        script = DEBIAN / 'pcloud-worker.py'
        done = subprocess.run(
            [sys.executable, script, '--config-file', os.devnull,
             '--log-file', os.devnull], capture_output=True, text=True)
        self.assertIn('no configuration names a database', done.stderr)
        self.assertIn("sys.argv.append('work')", script.read_text())

    def test_user_and_patience_are_those_of_the_unit(self):
        unit = (ROOT / 'etc/pcloud/pcloud-worker.service').read_text()
        made = dict(re.findall(
            r'(?m)^(\w+)=(.*)$',
            (DEBIAN / 'pcloud-worker.init.in').read_text()))
        self.assertIn(f'\nUser={made["PROJECT_NAME"]}\n', unit)
        self.assertIn(f'\nTimeoutStopSec={made["TIMEOUT_STOP"]}\n', unit)
