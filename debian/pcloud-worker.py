#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0

"""The worker as a service: ``pcloud-manage OPTIONS work``.

The options of a service, as the files of configuration and of the log, come
last in Debian's scripts; pcloud-manage takes them before its command.
"""

import sys

from pcloud.cmd import manage

sys.argv.append('work')
sys.exit(manage.main())
