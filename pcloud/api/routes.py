# SPDX-License-Identifier: Apache-2.0

"""Every URL of Pcloud's API, in a single table.

A row of the table determines the path, the method, the handler, the policy
rule, the schemas of body and query, and the status code of success. Some wings
bring rows and handlers of their own. The names in a path have the forms of a
second, small table.
"""

from collections.abc import Mapping
import importlib
import re

import routes

from pcloud.api import handlers
from pcloud.api import policies
from pcloud.api import route
from pcloud.api import schemas
from pcloud.api.schemas import shown
from pcloud.api.schemas import types
from pcloud.api import views

Route = route.Route

# Nova's own form of the project id that may come before the resource.
_PROJECT = '/{project_id:[0-9a-f-]+}'

# The wings with rows of their own. A wing is found by name: the core imports
# no wing for the sake of the wing's calls, and runs without the wing.
WINGS = ['pcloud.audit.routes', 'pcloud.planning.routes',
         'pcloud.usage.routes']

# What several calls answer.
_HOST_FLAVOR = shown.named('host_flavor', views.host_flavors.HOST_FLAVOR)
_HOST_FLAVORS = shown.named(
    'host_flavors', shown.list_of(views.host_flavors.HOST_FLAVOR))
_POOL_HOST = shown.named('host', views.host_flavors.HOST)
_PCLOUD = shown.named('pcloud', views.pclouds.PCLOUD)
_HOST = shown.named('host', views.hosts.HOST)
_HOSTS = shown.named('hosts', shown.list_of(views.hosts.HOST))
_POLICY = shown.named('policy', views.scoped_policies.POLICY)

ROUTES = [
    Route('GET', '/os-host-flavors', handlers.host_flavors.index,
          policies.host_flavors.INDEX, 200,
          answer=_HOST_FLAVORS),
    Route('POST', '/os-host-flavors', handlers.host_flavors.create,
          policies.host_flavors.CREATE, 201, schemas.host_flavors.create,
          answer=_HOST_FLAVOR),
    Route('GET', '/os-host-flavors/{id}', handlers.host_flavors.show,
          policies.host_flavors.SHOW, 200,
          query=schemas.host_flavors.show_query, answer=_HOST_FLAVOR),
    Route('PUT', '/os-host-flavors/{id}', handlers.host_flavors.update,
          policies.host_flavors.UPDATE, 200, schemas.host_flavors.update,
          answer=_HOST_FLAVOR),
    Route('DELETE', '/os-host-flavors/{id}', handlers.host_flavors.delete,
          policies.host_flavors.DELETE, 204),
    Route('POST', '/os-host-flavors/{id}/hosts',
          handlers.host_flavors.add_host,
          policies.host_flavors.ADD_HOST, 201, schemas.host_flavors.add_host,
          answer=shown.any_of(
              _POOL_HOST,
              shown.named('hosts', shown.list_of(views.host_flavors.HOST)))),
    Route('PUT', '/os-host-flavors/{id}/hosts/{host}',
          handlers.host_flavors.update_host,
          policies.host_flavors.SHOW, 200,
          schemas.host_flavors.update_host, answer=_POOL_HOST),
    Route('DELETE', '/os-host-flavors/{id}/hosts/{host}',
          handlers.host_flavors.remove_host,
          policies.host_flavors.REMOVE_HOST, 204),

    Route('GET', '/os-pclouds', handlers.pclouds.index,
          policies.pclouds.INDEX, 200, query=schemas.pclouds.index_query,
          answer=shown.named('pclouds', shown.list_of(views.pclouds.PCLOUD))),
    Route('POST', '/os-pclouds', handlers.pclouds.create,
          policies.pclouds.CREATE, 201, schemas.pclouds.create,
          query=schemas.pclouds.create_query, answer=_PCLOUD, also=(200,)),
    Route('GET', '/os-pclouds/{id}', handlers.pclouds.show,
          policies.pclouds.SHOW, 200, answer=_PCLOUD),
    Route('PUT', '/os-pclouds/{id}', handlers.pclouds.update,
          policies.pclouds.UPDATE, 200, schemas.pclouds.update,
          answer=_PCLOUD),
    Route('DELETE', '/os-pclouds/{id}', handlers.pclouds.delete,
          policies.pclouds.DELETE, 204, query=schemas.pclouds.delete_query),

    Route('GET', '/os-pclouds/{id}/hosts', handlers.hosts.index,
          policies.hosts.INDEX, 200, answer=_HOSTS),
    Route('POST', '/os-pclouds/{id}/hosts', handlers.hosts.add,
          policies.hosts.ADD, 201, schemas.hosts.add,
          answer=shown.any_of(_HOST, _HOSTS, shown.named(
              'waiting', views.waiting.ENTRY)), also=(202,)),
    Route('GET', '/os-pclouds/{id}/hosts/{name}', handlers.hosts.show,
          policies.hosts.SHOW, 200, answer=_HOST),
    Route('PUT', '/os-pclouds/{id}/hosts/{name}', handlers.hosts.update,
          policies.hosts.UPDATE, 200, schemas.hosts.update, answer=_HOST),
    Route('DELETE', '/os-pclouds/{id}/hosts/{name}', handlers.hosts.remove,
          policies.hosts.REMOVE, 204),

    Route('GET', '/os-pclouds/{id}/waiting', handlers.waiting.index,
          policies.others.WAITING_INDEX, 200, answer=shown.named(
              'waiting', shown.list_of(views.waiting.ENTRY))),
    Route('DELETE', '/os-pclouds/{id}/waiting/{entry}',
          handlers.waiting.cancel, policies.others.WAITING_CANCEL, 204),
    Route('GET', '/os-host-flavors/{id}/waiting',
          handlers.waiting.index_of_flavor,
          policies.others.FLAVOR_WAITING_INDEX, 200, answer=shown.named(
              'waiting', shown.list_of(views.waiting.DETAIL))),

    Route('GET', '/os-pclouds/{id}/tenants', handlers.tenants.index,
          policies.others.TENANTS_INDEX, 200, answer=shown.named(
              'tenants', shown.list_of(handlers.tenants.TENANT))),
    Route('POST', '/os-pclouds/{id}/tenants', handlers.tenants.add_named,
          policies.others.TENANTS_ADD, 201, handlers.tenants.ADD_BODY,
          answer=shown.named('tenant', handlers.tenants.TENANT)),
    Route('PUT', '/os-pclouds/{id}/tenants/{tenant}', handlers.tenants.add,
          policies.others.TENANTS_ADD, 204, handlers.tenants.CAPS_BODY,
          is_optional=True),
    Route('DELETE', '/os-pclouds/{id}/tenants/{tenant}',
          handlers.tenants.remove, policies.others.TENANTS_REMOVE, 204,
          query=handlers.tenants.REMOVE_QUERY),

    Route('GET', '/os-pcloud-quotas/{project}', handlers.quotas.show,
          policies.others.QUOTAS_SHOW, 200, answer=handlers.quotas.ANSWER),
    Route('PUT', '/os-pcloud-quotas/{project}', handlers.quotas.update,
          policies.others.QUOTAS_UPDATE, 200, handlers.quotas.UPDATE_BODY,
          answer=handlers.quotas.ANSWER),
    Route('DELETE', '/os-pcloud-quotas/{project}', handlers.quotas.delete,
          policies.others.QUOTAS_DELETE, 204),

    Route('GET', '/os-pcloud-room', handlers.room.show,
          policies.others.ROOM_SHOW, 200, query=handlers.room.SHOW_QUERY,
          answer=handlers.room.ANSWER),

    Route('GET', '/os-pcloud-hidden-servers', handlers.hidden_servers.index,
          policies.others.HIDDEN_SERVERS_INDEX, 200,
          answer=handlers.hidden_servers.ANSWER),

    Route('GET', '/os-pcloud-servers', handlers.servers.index,
          policies.others.SERVERS_INDEX, 200,
          query=handlers.servers.INDEX_QUERY, answer=shown.named(
              'servers', shown.list_of(handlers.servers.SERVER))),

    Route('GET', '/os-pcloud', handlers.about.show,
          policies.others.ABOUT_SHOW, 200, answer=handlers.about.ANSWER),

    Route('GET', '/os-pcloud-attributes', handlers.attributes.index,
          policies.others.ATTRIBUTES_INDEX, 200,
          query=handlers.attributes.INDEX_QUERY, answer=shown.named(
              'attributes', shown.list_of(handlers.attributes.ATTRIBUTE))),
    Route('PUT', '/os-pcloud-attributes/{name}', handlers.attributes.update,
          policies.others.ATTRIBUTES_UPDATE, 200,
          handlers.attributes.UPDATE_BODY, answer=shown.named(
              'attribute', handlers.attributes.ATTRIBUTE)),
    Route('DELETE', '/os-pcloud-attributes/{name}',
          handlers.attributes.delete, policies.others.ATTRIBUTES_DELETE, 204,
          query=handlers.attributes.DELETE_QUERY),

    Route('GET', '/os-pcloud-policies/{scope}/{id}',
          handlers.scoped_policies.show,
          policies.scoped_policies.SHOW, 200,
          query=schemas.scoped_policies.show_query, answer=_POLICY),
    Route('PUT', '/os-pcloud-policies/{scope}/{id}',
          handlers.scoped_policies.update,
          policies.scoped_policies.UPDATE, 200,
          schemas.scoped_policies.update, answer=_POLICY),
    Route('DELETE', '/os-pcloud-policies/{scope}/{id}',
          handlers.scoped_policies.delete,
          policies.scoped_policies.DELETE, 204),

    *(row for wing in WINGS for row in importlib.import_module(wing).ROUTES),
]


# The schema of each parameter, by the path that ends with the parameter.
_FORMS: dict[str, dict] = {
    '/os-host-flavors/{id}': types.host_flavor_id,
    '/os-host-flavors/{id}/hosts/{host}': types.compute_host,
    '/os-pclouds/{id}': types.pcloud_id,
    '/os-pclouds/{id}/hosts/{name}': types.host_name,
    '/os-pclouds/{id}/waiting/{entry}': types.pcloud_id,
    '/os-pclouds/{id}/tenants/{tenant}': types.scope_id,
    '/os-pcloud-quotas/{project}': types.scope_id,
    '/os-pcloud-usage/{project}': types.scope_id,
    '/os-pcloud-attributes/{name}': types.attribute_name,
    '/os-pcloud-policies/{scope}': schemas.scoped_policies.scope,
    '/os-pcloud-policies/{scope}/{id}': types.scope_id,
}


def forms_of(path: str) -> Mapping[str, dict]:
    """Return name -> schema of the parameters in a path of the table.

    What has another form is no name, and no database is asked about it.
    """
    return {found.group(1): _FORMS[path[:found.end()]]
            for found in re.finditer('{([a-z]+)}', path)}


def methods_of(path: str) -> dict[str, Route]:
    """Return method -> route, for a path of the table."""
    return {route.method: route for route in ROUTES if route.path == path}


def mapper() -> routes.Mapper:
    """Return a mapper of URLs to the paths of the table.

    A match has the path of the table as 'template', the values of the path's
    parameters, and 'project_id' where the URL has a project id.
    """
    router = routes.Mapper(register=False)
    for path in sorted({route.path for route in ROUTES}):
        # Ids and names have dots; the text after a dot is no format.
        pattern = path.replace('}', ':[^/]+}')
        for prefix in ('', _PROJECT):
            router.connect(prefix + pattern, template=path)
    return router
