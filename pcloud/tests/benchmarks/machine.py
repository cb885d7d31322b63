# SPDX-License-Identifier: Apache-2.0

"""What a run was measured with."""

import importlib.metadata
import os
import pathlib
import platform
import subprocess

import pymysql

from pcloud.tests.concurrency import mariadb

ROOT = pathlib.Path(__file__).parents[3]
# What a run itself writes.
FOLDER = ROOT / 'doc' / 'source' / 'admin' / 'performance'

_PACKAGES = ('nova', 'blazar-nova', 'SQLAlchemy', 'PyMySQL')


def described() -> dict[str, str]:
    """Return what the machine is and has -> number or version."""
    with (pymysql.connect(host=mariadb.HOST, user=mariadb.USER) as connection,
          connection.cursor() as cursor):
        cursor.execute('SELECT version()')
        (database,), = cursor.fetchall()
    return {'cores': str(os.cpu_count()),
            'database': f'MariaDB {database.partition("-")[0]}',
            'Python': platform.python_version(),
            **{each: _version(each) for each in _PACKAGES}}


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return 'not installed'


def commit() -> str:
    """Return the commit of this checkout, with ``+`` after changes."""
    changed = _git('status', '--porcelain', '--', '.',
                   f':!{FOLDER.relative_to(ROOT)}')
    return _git('rev-parse', '--short=12', 'HEAD') + ('+' if changed else '')


def _git(*arguments: str) -> str:
    return subprocess.run(
        ['git', '-C', str(ROOT), *arguments], check=True, text=True,
        capture_output=True).stdout.strip()
