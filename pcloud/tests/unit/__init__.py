# SPDX-License-Identifier: Apache-2.0

"""Tests that need no running cloud."""

import os

import hypothesis

# How many values each property is tried with; drawn anew in each run.
EXAMPLES = int(os.environ.get('PCLOUD_TEST_EXAMPLES', 0))

# The speed of a machine says nothing about a property. What a run draws shall
# not decide about a change that has nothing to do with the value drawn.
hypothesis.settings.register_profile(
    'same', deadline=None, database=None, derandomize=True,
    suppress_health_check=list(hypothesis.HealthCheck))
if EXAMPLES:
    hypothesis.settings.register_profile(
        'drawn', hypothesis.settings.get_profile('same'), derandomize=False,
        max_examples=EXAMPLES)
hypothesis.settings.load_profile('drawn' if EXAMPLES else 'same')
