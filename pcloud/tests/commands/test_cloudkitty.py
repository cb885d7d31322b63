# SPDX-License-Identifier: Apache-2.0

"""The sample of CloudKitty's metrics.yml, judged by CloudKitty itself.

CloudKitty comes from the package registry, into an environment of its own: the
versions of its libraries need not be those of Nova's.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

PAGE = pathlib.Path(__file__).parents[3] / 'doc/source/admin/operation.rst'

_JUDGE = '''
import sys
from cloudkitty.collector import prometheus
import yaml
conf = yaml.safe_load(sys.stdin.read())
print(sorted(prometheus.PrometheusCollector.check_configuration(conf)))
'''


class CloudKittyTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.mkdtemp(prefix='pcloud-cloudkitty-')
        cls.addClassCleanup(shutil.rmtree, folder)
        subprocess.run([sys.executable, '-m', 'venv', folder], check=True)
        cls.python = f'{folder}/bin/python'
        subprocess.run([cls.python, '-m', 'pip', 'install', '-q',
                        'cloudkitty', 'SQLAlchemy<2.1'], check=True)

    def judge(self, sample):
        """Return what CloudKitty's collector for Prometheus says."""
        return subprocess.run(
            [self.python, '-c', _JUDGE], input=sample, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def test_sample(self):
        block = re.search(r'in ``metrics.yml``::\n\n((?:   .*\n|\n)+)',
                          PAGE.read_text())
        sample = textwrap.dedent(block.group(1))
        judged = self.judge(sample)
        self.assertEqual("['pcloud_hosts_held']\n", judged.stdout)
        for wrong in sample.replace('unit:', 'units:'), sample.replace(
                'aggregation_method: avg', 'aggregation_method: mean'):
            self.assertNotEqual(0, self.judge(wrong).returncode)
