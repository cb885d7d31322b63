# SPDX-License-Identifier: Apache-2.0

"""What pages show of what fits, of failures and of better places."""
