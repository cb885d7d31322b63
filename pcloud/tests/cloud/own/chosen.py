# SPDX-License-Identifier: Apache-2.0

"""Options of a cloud whose configuration is at hand."""

from pcloud_sandbox.configuration import ini
from pcloud_sandbox.configuration import layout
from pcloud_sandbox import launcher

_SECTION = 'pcloud'


def choose(where: layout.Layout, **options: str) -> None:
    """Set options of ``[pcloud]``, and restart what reads the options.

    Nothing is restarted where all options have these values.
    """
    conf = ini.Ini(where.nova_conf)
    if options == {name: ''.join(conf.values(_SECTION, name))
                   for name in options}:
        return
    for name, value in options.items():
        conf.set(_SECTION, name, value)
    conf.save()
    launcher.restart_readers(
        where, launcher.need_running(where), _SECTION, lambda _: None)
