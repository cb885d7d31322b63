# SPDX-License-Identifier: Apache-2.0

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
