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

"""Draw how old platforms drain, with Nova's weighers and with Pcloud's."""

import random

from matplotlib import pyplot
import nova.conf

from pcloud.trace_replay import fake_cloud
from pcloud.trace_replay import replay
from pcloud.trace_replay import trace

CONF = nova.conf.CONF

HOSTS, SERVERS, DAYS, LIFETIME = 200, 400, 42, 14
CLOUDS = {
    "Nova's default weighers": (replay.NOVA, 'tab:gray', {}),
    "with Pcloud's": (replay.PCLOUD, 'tab:blue', {
        'ram': -0.1, 'cpu': 0.0, 'disk': 0.0, 'hypervisor_version': 0.0}),
}


def outcome(servers, weighers, multipliers):
    """Return what becomes of the servers with these weighers."""
    for name, value in multipliers.items():
        CONF.set_override(
            f'{name}_weight_multiplier', value, 'filter_scheduler')
    return replay.run(
        servers, HOSTS, DAYS, weighers, random.Random(2))


CONF([], project='nova', default_config_files=[])
servers = trace.make(random.Random(1), DAYS, SERVERS, LIFETIME)
figure, (left, right) = pyplot.subplots(
    1, 2, figsize=(11, 4.5), layout='constrained')
for place, (name, (weighers, color, multipliers)) in enumerate(
        CLOUDS.items()):
    found = outcome(servers, weighers, multipliers)
    days = range(len(found.days))
    for platform, style, which in (
            (fake_cloud.PLATFORMS[0], '-', 'oldest'),
            (fake_cloud.PLATFORMS[-1], '--', 'newest')):
        left.plot(days, [100 * each for each in found.share(platform)],
                  style, color=color, label=f'{name}: {which}')
    weeks = sorted(week for week in found.by_reboot if week is not None)
    right.bar([week + 0.4 * place for week in weeks],
              [found.by_reboot[week] for week in weeks],
              width=0.4, color=color, label=name)
left.set(xlabel='day', ylabel='servers on the platform, %', ylim=(0, 100))
right.set(xlabel='week of the next reboot', ylabel='servers')
for axes in (left, right):
    axes.legend()
