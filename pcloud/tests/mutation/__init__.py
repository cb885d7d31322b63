# SPDX-License-Identifier: Apache-2.0

"""Faults that are planted one at a time: ``python -m pcloud.tests.mutation``.

A mutant is a module with a small fault. The tests that run the line with the
fault are run, until a test fails: the mutant is killed. A mutant that survives
is a question about the tests, or a fault that changes nothing.
"""
