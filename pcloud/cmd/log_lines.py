# SPDX-License-Identifier: Apache-2.0

"""Which log lines the operators' commands write to standard error."""

import logging
import sys

from oslo_config import cfg

# Where an operator says which lines are wanted, and where to.
_ASKED = 'default_log_levels', 'log_config_append'


def show_warnings_alone(conf: cfg.ConfigOpts) -> None:
    """Keep lines below the level WARNING from standard error.

    cron sends as mail whatever a command writes there. Who asks for more
    lines gets more: with ``debug``, a log file, or levels or handlers of their
    own. What goes to syslog or the journal stays as it is.

    :param conf: the configuration, with which logging has been set up
    """
    if conf.debug or conf.log_file or conf.log_dir or any(
            _is_set(conf, name) for name in _ASKED):
        return
    for handler in logging.getLogger().handlers:
        if getattr(handler, 'stream', None) is sys.stderr:
            handler.setLevel(logging.WARNING)


def _is_set(conf: cfg.ConfigOpts, name: str) -> bool:
    # Nova sets levels too, as defaults of the option.
    location = conf.get_location(name)
    return bool(location and location.location.is_user_controlled)
