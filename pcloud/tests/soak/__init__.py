# SPDX-License-Identifier: Apache-2.0

"""Clients, faults and a checker, at work on one cloud for a long time.

API processes are killed, and connections of API processes to MariaDB and
Placement are broken, while clients make all changing calls. The checker reads
the databases by SQL alone, and compares rows with answers.
"""

# Loads the threading of Nova, so the import comes first.
from pcloud.tests import concurrency  # noqa: F401
