# SPDX-License-Identifier: Apache-2.0

"""Pcloud's scheduler filters, for ``available_filters``.

Loading the filters also makes Nova ask Pcloud's request filter before
Placement, and wraps the choice of Nova's scheduler: Nova has no option for
either, and the filters are not safe without both.
"""

from oslo_config import cfg

from pcloud import conf
from pcloud.growth import destinations
from pcloud.scheduler.filters import affinity
from pcloud.scheduler.filters import colocation
from pcloud.scheduler.filters import constraints
from pcloud.scheduler.filters import free_memory
from pcloud.scheduler.filters import locality
from pcloud.scheduler.filters import pcloud
from pcloud.scheduler.filters import reboot
from pcloud.scheduler import prefilter

conf.register_opts(cfg.CONF)
prefilter.register()
destinations.register()


def all_filters() -> list[type]:
    """Return every filter class of Pcloud."""
    return [pcloud.PcloudFilter, affinity.AffinityFilter,
            constraints.ConstraintsFilter, locality.LocalityFilter,
            colocation.ColocationFilter, reboot.RebootFilter,
            free_memory.FreeMemoryFilter]
