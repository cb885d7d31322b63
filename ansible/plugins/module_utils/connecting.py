# SPDX-License-Identifier: Apache-2.0

"""What the modules have in common: the cloud, refusals and answers."""

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.basic import env_fallback
from ansible.module_utils.basic import missing_required_lib

try:
    from keystoneauth1 import exceptions as ksa_exceptions
    import openstack
    from openstack import exceptions
    from pcloud import sdk
except ImportError as error:
    MISSING = error
else:
    MISSING = None

_CLOUD = {
    'cloud': {'type': 'raw', 'fallback': (env_fallback, ['OS_CLOUD'])},
    'region_name': {'type': 'str'},
    'interface': {'type': 'str', 'default': 'public',
                  'choices': ['admin', 'internal', 'public']},
    'validate_certs': {'type': 'bool'},
}


class Refused(Exception):
    """What the module cannot do, in words for the playbook's author."""


def run(arguments, make_true, **more):
    """Run a module.

    :param arguments: the options of the module, beside those of the cloud
    :param make_true: takes the module and `conn.pcloud`; returns what the
        module returns, with "changed"
    :param more: arguments of AnsibleModule
    """
    module = AnsibleModule(argument_spec={**_CLOUD, **arguments},
                           supports_check_mode=True, **more)
    if MISSING is not None:
        module.fail_json(msg=missing_required_lib('openstack-pcloud[sdk]'),
                         exception=str(MISSING))
    try:
        conn = _connect(module.params)
        module.exit_json(**make_true(module, conn))
    except Refused as error:
        module.fail_json(msg=str(error))
    except exceptions.SDKException as error:
        module.fail_json(msg=getattr(error, 'details', None) or str(error))
    except ksa_exceptions.ClientException as error:
        module.fail_json(msg=str(error))


def _connect(params):
    options = {}
    if params['validate_certs'] is not None:
        options['verify'] = params['validate_certs']
    if params['region_name'] is not None:
        options['region_name'] = params['region_name']
    if isinstance(params['cloud'], dict):
        options.update(params['cloud'])
    else:
        options['cloud'] = params['cloud']
    conn = openstack.connect(interface=params['interface'], **options)
    sdk.attach(conn)
    return conn


def find_pcloud(conn, name_or_id):
    """Return a Pcloud, None without one; several of a name are refused."""
    try:
        return conn.pcloud.find_pcloud(name_or_id, ignore_missing=False)
    except exceptions.NotFoundException:
        return None


def need_pcloud(conn, name_or_id):
    """Return a Pcloud that has to be there."""
    found = find_pcloud(conn, name_or_id)
    if found is None:
        raise Refused(f"There is no Pcloud '{name_or_id}'")
    return found


def need_project(conn, name_or_id, domain):
    """Return the id of a project; an id where nobody may look projects up."""
    options = {}
    try:
        if domain:
            options['domain_id'] = conn.identity.find_domain(
                domain, ignore_missing=False).id
        return conn.identity.find_project(
            name_or_id, ignore_missing=False, **options).id
    except exceptions.ForbiddenException:
        return name_or_id


def wanted(params, names):
    """Return the named options that the playbook gives."""
    return {name: params[name] for name in names if params[name] is not None}


def differing(there, values):
    """Return the values that a resource does not have."""
    return {name: value for name, value in values.items()
            if there.get(name) != value}


def shown(resource):
    """Return a resource for the answer and for --diff."""
    if resource is None:
        return {}
    found = resource.to_dict(computed=False, original_names=False)
    return {name: value for name, value in found.items()
            if name not in ('location', 'links')}


def answer(name, before, after, changed):
    """Return what a module returns.

    :param name: the name of the resource in the answer
    :param before: the resource before, as a dictionary
    :param after: likewise after, as far as known in check mode
    """
    return {'changed': changed, name: after,
            'diff': {'before': before, 'after': after if changed else before}}
