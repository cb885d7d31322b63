# SPDX-License-Identifier: Apache-2.0

"""The environment variables of a client that acts as a sandbox's user."""

import shlex

from pcloud_sandbox.configuration import settings
from pcloud_sandbox import errors

# Variables that would override, or contradict, the variables set here.
CONFLICTING = (
    'OS_ACCESS_TOKEN', 'OS_APPLICATION_CREDENTIAL_ID',
    'OS_APPLICATION_CREDENTIAL_NAME', 'OS_APPLICATION_CREDENTIAL_SECRET',
    'OS_AUTH_TOKEN', 'OS_AUTH_METHODS', 'OS_CACERT', 'OS_CERT',
    'OS_CLIENT_CONFIG_FILE', 'OS_CLOUD', 'OS_DEFAULT_DOMAIN',
    'OS_DEFAULT_DOMAIN_ID', 'OS_DEFAULT_DOMAIN_NAME',
    'OS_DOMAIN_ID', 'OS_DOMAIN_NAME', 'OS_ENDPOINT',
    'OS_ENDPOINT_OVERRIDE', 'OS_ENDPOINT_TYPE', 'OS_IDENTITY_PROVIDER',
    'OS_INSECURE', 'OS_INTERFACE', 'OS_KEY', 'OS_PASSCODE',
    'OS_PROJECT_DOMAIN_NAME', 'OS_PROJECT_ID', 'OS_PROTOCOL',
    'OS_SERVICE_TOKEN', 'OS_SERVICE_TYPE', 'OS_SYSTEM_SCOPE',
    'OS_TENANT_ID', 'OS_TENANT_NAME', 'OS_TOKEN', 'OS_TRUST_ID', 'OS_URL',
    'OS_USER_DOMAIN_NAME', 'OS_USER_ID', 'OS_VOLUME_API_VERSION')


def check_user(user: str) -> None:
    """Make sure that a user exists.

    :raises SandboxError: there is no such user
    """
    if user not in settings.USERS:
        raise errors.SandboxError(
            f'no user {user!r}; there are {", ".join(settings.USERS)}')


def variables(chosen: settings.Settings, user: str) -> dict[str, str]:
    """Return the variables of a user; the project has the user's name.

    :raises SandboxError: there is no such user
    """
    check_user(user)
    return {
        'OS_AUTH_TYPE': 'password',
        'OS_AUTH_URL': chosen.auth_url,
        'OS_IDENTITY_API_VERSION': '3',
        # The default of "nova", but not of "openstack", whose default
        # knows neither servers without a network nor a server's hints.
        'OS_COMPUTE_API_VERSION': '2.latest',
        'OS_USERNAME': user,
        'OS_PASSWORD': chosen.password,
        'OS_PROJECT_NAME': user,
        'OS_USER_DOMAIN_ID': settings.DOMAIN,
        'OS_PROJECT_DOMAIN_ID': settings.DOMAIN,
        'OS_REGION_NAME': settings.REGION,
    }


def shell_lines(chosen: settings.Settings, user: str) -> list[str]:
    """Return the lines that a shell evaluates to act as a user.

    :raises SandboxError: there is no such user
    """
    exports = [f'export {name}={shlex.quote(value)}'
               for name, value in variables(chosen, user).items()]
    return ['unset ' + ' '.join(CONFLICTING), *exports]


def apply(base: dict[str, str], chosen: settings.Settings,
          user: str) -> dict[str, str]:
    """Return an environment with the variables of a sandbox's user.

    :param base: the environment to which the variables are added, and from
        which conflicting variables are removed

    :raises SandboxError: there is no such user
    """
    inherited = {name: value for name, value in base.items()
                 if name not in CONFLICTING}
    return inherited | variables(chosen, user)
