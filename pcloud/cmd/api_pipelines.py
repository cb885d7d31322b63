# SPDX-License-Identifier: Apache-2.0

"""The pipelines by which nova-api reaches the compute API, as nova-api loads.

The file is read by PasteDeploy, and composites are made by their own
factories, which are Nova's for the most part. Filters and applications are
found, and not made: no filter needs its configuration here.
"""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
import dataclasses
import os
import typing
from urllib import parse

from nova.api import auth
from nova.api.openstack import compute
from paste.deploy import loadwsgi

import pcloud.api

# The application of api-paste.ini that nova-api serves.
_SERVED = 'osapi_compute'
_COMPOSITES = ('paste.composite_factory', 'paste.composit_factory')
# Packages whose filters hand on the request that they get.
_TRANSPARENT = frozenset({
    'keystonemiddleware', 'nova', 'osprofiler', 'oslo_middleware'})
# What writes an audit trail of the calls that come through.
_AUDIT = 'keystonemiddleware.audit:'


@dataclasses.dataclass(frozen=True)
class _Missing:
    """A factory that is not installed on this machine."""

    name: str


@dataclasses.dataclass(frozen=True)
class _Part:
    """A filter or an application.

    :ivar factory: what PasteDeploy calls
    """

    protocol: str | None
    factory: object

    @property
    def is_pcloud(self) -> bool:
        """Whether the filter is Pcloud's."""
        return (self.protocol == 'paste.filter_factory' and
                self.factory is pcloud.api.filter_factory)

    @property
    def origin(self) -> str:
        """The module and the name of the factory, as far as known."""
        if isinstance(self.factory, _Missing):
            return self.factory.name
        maker = getattr(self.factory, '__self__', self.factory)
        return (f'{getattr(maker, "__module__", "")}:'
                f'{getattr(maker, "__qualname__", maker)}')

    def is_made_by(self, class_: type) -> bool:
        """Whether the factory is a method of a class, or of a subclass."""
        maker = getattr(self.factory, '__self__', None)
        return isinstance(maker, type) and issubclass(maker, class_)


@dataclasses.dataclass(frozen=True)
class Pipeline:
    """What a request passes on its way to an application.

    :ivar section: the name of the composite or pipeline that ends in the
        application
    :ivar filters: in the order of the request
    """

    section: str
    filters: tuple[_Part, ...]
    app: _Part

    @property
    def is_guarded(self) -> bool:
        """Whether Pcloud's filter comes behind one that knows the caller."""
        return any(part.is_pcloud for part in self._behind(
            lambda part: part.is_made_by(auth.NovaKeystoneContext)))

    @property
    def unseen(self) -> list[str]:
        """The filters that may change a request when Pcloud has seen it."""
        return [part.origin for part in self._behind_pcloud
                if not part.is_pcloud and
                part.origin.partition('.')[0] not in _TRANSPARENT]

    @property
    def late_audits(self) -> list[str]:
        """The audit filters to which Pcloud's own calls do not come."""
        return [part.origin for part in self._behind_pcloud
                if part.origin.startswith(_AUDIT)]

    @property
    def _behind_pcloud(self) -> tuple[_Part, ...]:
        return self._behind(lambda part: part.is_pcloud)

    def _behind(
        self, is_mark: Callable[[_Part], bool],
    ) -> tuple[_Part, ...]:
        """Return the filters behind the last one of a kind."""
        for index in reversed(range(len(self.filters))):
            if is_mark(self.filters[index]):
                return self.filters[index + 1:]
        return ()


def of_compute(path: str) -> list[Pipeline]:
    """Return the pipelines that end in Nova's compute API.

    :param path: the path of api-paste.ini
    :raises: whatever PasteDeploy, or the factory of a composite, raises for a
        file from which nova-api cannot be started
    """
    context = _Loader(os.path.abspath(path)).app_context(_SERVED)
    return [pipeline for pipeline in _pipelines(_SERVED, context)
            if pipeline.app.is_made_by(compute.APIRouterV21)]


class _Loader(loadwsgi.ConfigLoader):
    """Reads a file as PasteDeploy does; factories may be missing."""

    def get_context(
        self, object_type: typing.Any, name: str | None = None,
        global_conf: dict | None = None,
    ) -> loadwsgi.LoaderContext:
        """Find a section, or what a URI names, as the class above."""
        if not self.absolute_name(name):
            return super().get_context(object_type, name, global_conf)
        scheme, _, place = (name or '').partition(':')
        if scheme.lower() == 'config':
            path, _, section = place.partition('#')
            loader = _Loader(os.path.join(
                os.path.dirname(self.filename), parse.unquote(path)))
            loader.update_defaults(global_conf or {}, overwrite=False)
            return loader.get_context(
                object_type, section or 'main', global_conf)
        try:
            return super().get_context(object_type, name, global_conf)
        except ImportError:
            return self._missing(
                object_type, place, global_conf or {}, {},
                None if scheme.lower() == 'call' else
                object_type.egg_protocols[0][0])

    def _context_from_explicit(
        self, object_type: typing.Any, local_conf: dict, global_conf: dict,
        global_additions: dict, section: str,
    ) -> loadwsgi.LoaderContext:
        try:
            return super()._context_from_explicit(
                object_type, dict(local_conf), global_conf, global_additions,
                section)
        except ImportError:
            protocol = next(
                protocol for protocols in object_type.egg_protocols
                for protocol in protocols if protocol in local_conf)
            return self._missing(
                object_type, local_conf.pop(protocol), global_conf,
                local_conf, protocol)

    def _missing(
        self, object_type: typing.Any, name: str, global_conf: dict,
        local_conf: dict, protocol: str | None,
    ) -> loadwsgi.LoaderContext:
        return loadwsgi.LoaderContext(
            _Missing(name), object_type, protocol, global_conf, local_conf,
            self)


class _Stack:
    """Stands for an application: the pipelines to what the application has.

    :ivar is_inner: whether the application is behind a filter
    """

    def __init__(self, pipelines: Iterable[Pipeline]) -> None:
        self.pipelines = tuple(pipelines)
        self.is_inner = False


class _Composer:
    """The loader that a composite gets, which notes what is composed."""

    def __init__(self, loader: loadwsgi.ConfigLoader) -> None:
        self._loader = loader
        self._stacks: list[_Stack] = []

    def get_app(
        self, name: str | None = None, global_conf: dict | None = None,
    ) -> _Stack:
        """Return what stands for an application."""
        return self._noted(_pipelines(
            name or '', self._loader.app_context(name, global_conf)))

    def get_filter(
        self, name: str | None = None, global_conf: dict | None = None,
    ) -> Callable[[_Stack], _Stack]:
        """Return a function that stands for a filter."""
        parts = _filters(self._loader.filter_context(name, global_conf))

        def _wrap(app: _Stack) -> _Stack:
            app.is_inner = True
            return self._noted(_behind(parts, app.pipelines))

        return _wrap

    def pipelines(self) -> Iterator[Pipeline]:
        """Yield the pipelines to all that was composed."""
        for stack in self._stacks:
            if not stack.is_inner:
                yield from stack.pipelines

    def _noted(self, pipelines: Iterable[Pipeline]) -> _Stack:
        stack = _Stack(pipelines)
        self._stacks.append(stack)
        return stack


def _pipelines(
    name: str, context: loadwsgi.LoaderContext,
) -> Iterator[Pipeline]:
    """Yield the pipelines to the applications of a section."""
    kind = context.object_type
    if kind is loadwsgi.PIPELINE:
        found = _behind([part for each in context.filter_contexts
                         for part in _filters(each)],
                        _pipelines('', context.app_context))
    elif kind in (loadwsgi.FILTER_APP, loadwsgi.FILTER_WITH):
        found = _behind(_filters(context.filter_context),
                        _pipelines('', context.next_context))
    elif context.protocol in _COMPOSITES:
        found = _composed(context)
    else:
        yield Pipeline('', (), _part(context))
        return
    for pipeline in found:
        yield dataclasses.replace(
            pipeline, section=pipeline.section or name)


def _composed(context: loadwsgi.LoaderContext) -> Iterator[Pipeline]:
    """Yield the pipelines of a composite, whose factory is called.

    :raises ImportError: when the factory is missing
    """
    if isinstance(context.object, _Missing):
        raise ImportError(f'{context.object.name} cannot be imported')
    composer = _Composer(context.loader)
    loadwsgi.fix_call(context.object, composer, context.global_conf,
                      **context.local_conf)
    return composer.pipelines()


def _behind(
    parts: Iterable[_Part], pipelines: Iterable[Pipeline],
) -> Iterator[Pipeline]:
    """Yield pipelines with filters in front."""
    in_front = tuple(parts)
    for pipeline in pipelines:
        yield dataclasses.replace(
            pipeline, filters=in_front + pipeline.filters)


def _filters(context: loadwsgi.LoaderContext) -> list[_Part]:
    """Return a filter, and the filters that PasteDeploy puts around it."""
    if context.object_type is loadwsgi.FILTER_WITH:
        return [*_filters(context.filter_context),
                *_filters(context.next_context)]
    return [_part(context)]


def _part(context: loadwsgi.LoaderContext) -> _Part:
    return _Part(context.protocol, context.object)
