#!/bin/bash

# A Pcloud with an enabled host and a server: before the upgrade and after it the
# server is there, another one gets onto the host with the hint, and none
# without.

set -o errexit

source $GRENADE_DIR/grenaderc
source $GRENADE_DIR/functions

source $TOP_DIR/openrc admin admin

set -o xtrace

PCLOUD_OWNER=pcloud_grenade
PCLOUD_PASS=pass
PCLOUD_FLAVOR=pcloud_grenade
DEFAULT_INSTANCE_TYPE=${DEFAULT_INSTANCE_TYPE:-m1.tiny}

# Run a command as the project that owns the Pcloud.
function as_owner {
    OS_PROJECT_NAME=$PCLOUD_OWNER OS_USERNAME=$PCLOUD_OWNER OS_PASSWORD=$PCLOUD_PASS "$@"
}

# Print the name of a compute host without servers.
function empty_host {
    local host
    for host in $(openstack compute service list --service nova-compute -f value -c Host); do
        if [[ -z "$(openstack server list --all-projects --host $host -f value -c ID)" ]]; then
            echo $host
            return
        fi
    done
    die $LINENO "Every compute host has servers; Pcloud needs an empty one"
}

# Start a server without networks, as its ports are no matter here.
# boot name options...
function boot {
    local name=$1
    local image
    shift
    image=$(openstack image list -f value -c ID | head -n 1)
    openstack server create --image $image --flavor $DEFAULT_INSTANCE_TYPE \
        --nic none --wait "$@" $name
}

function create {
    local host id
    host=$(empty_host)
    resource_save pcloud host $host

    openstack project create $PCLOUD_OWNER
    openstack user create --project $PCLOUD_OWNER --password $PCLOUD_PASS $PCLOUD_OWNER
    openstack role add member --user $PCLOUD_OWNER --project $PCLOUD_OWNER

    openstack compute service set --disable $host nova-compute
    openstack host flavor create $PCLOUD_FLAVOR --units 1
    openstack host flavor host add $PCLOUD_FLAVOR $host

    as_owner openstack pcloud create upgraded
    as_owner openstack pcloud host add upgraded first --host-flavor $PCLOUD_FLAVOR
    as_owner openstack pcloud host set upgraded first --enable
    id=$(as_owner openstack pcloud show upgraded -f value -c id)
    resource_save pcloud id $id
    as_owner boot pcloud_before --hint pcloud=$id
}

# The name of the host is the administrator's to see.
function verify_on_host {
    local host found
    host=$(resource_get pcloud host)
    found=$(openstack server list --all-projects --host $host --name "^$1\$" -f value -c Status)
    if [[ "$found" != ACTIVE ]]; then
        die $LINENO "Server $1 is not ACTIVE on the host of its Pcloud, but \"$found\""
    fi
}

function verify_isolated {
    local host
    host=$(resource_get pcloud host)
    if boot pcloud_outside --host $host; then
        die $LINENO "A server without the hint got onto $host, which is in a Pcloud"
    fi
    if openstack server show pcloud_outside; then
        openstack server delete --wait pcloud_outside
    fi
}

function verify {
    local id state
    id=$(resource_get pcloud id)
    verify_on_host pcloud_before
    state=$(as_owner openstack pcloud host show upgraded first -f value -c state)
    if [[ "$state" != enabled ]]; then
        die $LINENO "The host of the Pcloud is not enabled, but \"$state\""
    fi
    as_owner boot pcloud_new --hint pcloud=$id
    verify_on_host pcloud_new
    as_owner openstack server delete --wait pcloud_new
    verify_isolated
}

function verify_noapi {
    # Whom a host takes is decided by Nova's services, which are stopped.
    :
}

function destroy {
    local host
    host=$(resource_get pcloud host)
    as_owner openstack server delete --wait pcloud_before
    as_owner openstack pcloud host set upgraded first --disable
    as_owner openstack pcloud host remove upgraded first
    as_owner openstack pcloud delete upgraded
    openstack host flavor host remove $PCLOUD_FLAVOR $host
    openstack host flavor delete $PCLOUD_FLAVOR
    openstack compute service set --enable $host nova-compute
    openstack user delete $PCLOUD_OWNER
    openstack project delete $PCLOUD_OWNER
}

# Dispatcher
case $1 in
    "create")
        create
        ;;
    "verify_noapi")
        verify_noapi $2
        ;;
    "verify")
        verify $2
        ;;
    "destroy")
        destroy
        ;;
    "force_destroy")
        set +o errexit
        destroy
        ;;
esac
