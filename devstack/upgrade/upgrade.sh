#!/usr/bin/env bash

# ``upgrade-pcloud``

echo "*********************************************************************"
echo "Begin $0"
echo "*********************************************************************"

# Clean up any resources that may be in use
function cleanup {
    set +o errexit

    echo "*********************************************************************"
    echo "ERROR: Abort $0"
    echo "*********************************************************************"

    # Kill ourselves to signal any calling process
    trap 2; kill -2 $$
}

trap cleanup SIGHUP SIGINT SIGTERM

PCLOUD_DEVSTACK_DIR=$(cd "$(dirname "$0")/.." && pwd)

# Source params
source $GRENADE_DIR/grenaderc

# Import common functions
source $GRENADE_DIR/functions

# This script exits on an error so that errors don't compound and you see
# only the first error that occurred.
set -o errexit

# Get functions from the target's DevStack
source $TARGET_DEVSTACK_DIR/stackrc
source $TARGET_DEVSTACK_DIR/lib/tls
source $TARGET_DEVSTACK_DIR/lib/apache
source $TARGET_DEVSTACK_DIR/lib/nova
source $PCLOUD_DEVSTACK_DIR/settings
source $PCLOUD_DEVSTACK_DIR/plugin.sh

set -o xtrace

# Nova was upgraded first, and runs with the Pcloud of the base until its
# processes are started again. Of nova.conf and api-paste.ini Nova has kept what
# the base has made of them.
source $PCLOUD_DEVSTACK_DIR/plugin.sh stack install
source $PCLOUD_DEVSTACK_DIR/plugin.sh stack post-config
$SYSTEMCTL restart devstack@n-api devstack@n-sch
ensure_services_started n-api n-sch
wait_for_service $SERVICE_TIMEOUT $NOVA_SERVICE_PROTOCOL://$SERVICE_HOST/compute/v2.1/

pcloud_check

set +o xtrace
echo "*********************************************************************"
echo "SUCCESS: End $0"
echo "*********************************************************************"
