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

"""Pcloud's scheduler weighers, for ``weight_classes``."""

from oslo_config import cfg

from pcloud import conf
from pcloud.scheduler.weights import affinity
from pcloud.scheduler.weights import hardware_class
from pcloud.scheduler.weights import least_waste
from pcloud.scheduler.weights import owner_spread
from pcloud.scheduler.weights import platform
from pcloud.scheduler.weights import preference
from pcloud.scheduler.weights import reboot

conf.register_opts(cfg.CONF)


def all_weighers() -> list[type]:
    """Return every weigher class of Pcloud."""
    return [affinity.AffinityWeigher, preference.PreferenceWeigher,
            platform.PlatformWeigher, reboot.RebootWeigher,
            hardware_class.HardwareClassWeigher,
            least_waste.LeastWasteWeigher,
            owner_spread.OwnerSpreadWeigher]
