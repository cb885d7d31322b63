# SPDX-License-Identifier: Apache-2.0

"""A callback of Ansible: a line of JSON for each task."""

import json

from ansible.plugins import callback

DOCUMENTATION = '''
name: results
type: stdout
short_description: A line of JSON for each task
description: Prints the name and the result of each task.
'''


class CallbackModule(callback.CallbackBase):
    """Prints each result."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = 'stdout'
    CALLBACK_NAME = 'results'

    def v2_runner_on_ok(self, result):
        """Print a result."""
        self._tell(result)

    def v2_runner_on_failed(self, result, ignore_errors=False):
        """Print a failure."""
        self._tell(result)

    def _tell(self, result):
        print(json.dumps([result._task.get_name().rpartition(' : ')[2],
                          result._result], default=str))
