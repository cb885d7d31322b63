# SPDX-License-Identifier: Apache-2.0

"""Load the classes named by an operator, as far as possible."""

from collections.abc import Iterable

from nova import loadables
from oslo_log import log as logging

LOG = logging.getLogger(__name__)


def classes(
    handler: loadables.BaseLoader, names: Iterable[str],
) -> tuple[list[type], dict[str, str]]:
    """Load classes as nova-scheduler does, but go on after a failure.

    :param names: names of classes, or of functions that return classes
    :returns: the classes; and ``name -> reason`` for each name that cannot be
        loaded
    """
    result: list[type] = []
    broken: dict[str, str] = {}
    for name in names:
        try:
            result += handler.get_matching_classes([name])
        except Exception as error:  # Whatever a foreign module may raise.
            broken[name] = str(_plain(error))
            LOG.warning('%(name)s cannot be loaded: %(error)s',
                        {'name': name, 'error': broken[name]})
    return result, broken


def instances(
    classes_: Iterable[type],
) -> tuple[list[object], dict[str, str]]:
    """Make an instance of each class, but go on after a failure.

    :returns: the instances; and ``class -> reason`` for each other class
    """
    made: list[object] = []
    failed: dict[str, str] = {}
    for class_ in classes_:
        try:
            made.append(class_())
        except Exception as error:  # Whatever a foreign class may raise.
            failed[class_.__name__] = str(error)
            LOG.warning('%(name)s cannot be made: %(error)s',
                        {'name': class_.__name__, 'error': error})
    return made, failed


def _plain(error: Exception) -> BaseException:
    """Return the cause of an error whose text is a whole traceback.

    `oslo_utils.importutils` raises such errors for a missing class.
    """
    return error.__context__ or error
