# SPDX-License-Identifier: Apache-2.0

"""What the policies of all resources share."""

# Nova's own notions of its personas, so that an operator's changes to them
# hold for Pcloud too.
ADMIN = 'rule:context_is_admin'
ANY = '@'
MEMBER = 'rule:project_member_or_admin'
READER = 'rule:project_reader_or_admin'

PREFIX = 'os_compute_api:'
SCOPES = ['project']
