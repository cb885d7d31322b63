# SPDX-License-Identifier: Apache-2.0

"""Benchmarks of Pcloud: ``python -m pcloud.tests.benchmarks``.

Each part is a module, or a package, with a function ``measure`` that yields
rows (`results.Row`), and with the arguments of that function for clouds of
full size, ``FULL``, and for clouds that only show that the part works,
``SMALL``.
"""
