# SPDX-License-Identifier: Apache-2.0

"""The options by which all modules reach a cloud."""


class ModuleDocFragment:
    """The fragment openstack_pcloud.pcloud.cloud."""

    DOCUMENTATION = r'''
options:
  cloud:
    description:
      - A cloud of C(clouds.yaml), or a dictionary with what C(clouds.yaml)
        would have. The variable E(OS_CLOUD) or the other variables of an
        openrc file count by default.
    type: raw
  region_name:
    description: The region of the cloud.
    type: str
  interface:
    description: The kind of endpoint.
    type: str
    choices: [admin, internal, public]
    default: public
  validate_certs:
    description: Whether the certificates of the cloud are verified.
    type: bool
requirements:
  - openstack-pcloud[sdk]
attributes:
  check_mode:
    support: full
    description: Changes nothing, and says what would be changed.
  diff_mode:
    support: full
    description: Shows what changes.
'''
