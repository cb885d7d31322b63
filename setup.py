# SPDX-License-Identifier: Apache-2.0

"""Build the package; what its files are is in setup.cfg."""

import pathlib

from babel.messages import mofile
from babel.messages import pofile
import setuptools

LOCALE = pathlib.Path(__file__).parent / 'pcloud_dashboard' / 'locale'


def compile_catalogues() -> None:
    """Write the .mo file of each catalogue of the dashboard beside it.

    pbr sets the commands of setuptools aside, so no command of ours could.
    An editable installation reads the files there.
    """
    for path in LOCALE.rglob('*.po'):
        with path.open('rb') as source:
            catalogue = pofile.read_po(
                source, locale=path.parts[-3], domain=path.stem)
        with path.with_suffix('.mo').open('wb') as compiled:
            mofile.write_mo(compiled, catalogue)


compile_catalogues()
setuptools.setup(setup_requires=['pbr>=7.0.3'], pbr=True)
