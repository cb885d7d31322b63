# devstack plugin of Pcloud
#
#     enable_plugin pcloud <url of this repository>
#
# Installs Pcloud into Nova's environment and loads it in nova-scheduler and
# nova-api. Every phase may be repeated: what is there is neither replaced nor
# added twice. "clean" takes back what was added.

PCLOUD_FILTERS_CLASS=pcloud.scheduler.filters.all_filters
PCLOUD_WEIGHERS_CLASS=pcloud.scheduler.weights.all_weighers
# What Nova takes where nothing is set.
PCLOUD_NOVA_FILTERS_CLASS=nova.scheduler.filters.all_filters
PCLOUD_NOVA_WEIGHERS_CLASS=nova.scheduler.weights.all_weighers

# Print a list, separated by commas, with the items of another at its end, once.
# pcloud_with list items
function pcloud_with {
    local item
    local all=$1
    for item in ${2//,/ }; do
        if [[ ",$all," != *,$item,* ]]; then
            all+=",$item"
        fi
    done
    echo "$all"
}

# Print a list, separated by commas, without the items of another.
# pcloud_without list items
function pcloud_without {
    local item
    local kept=",$1,"
    for item in ${2//,/ }; do
        while [[ "$kept" == *,$item,* ]]; do
            kept=${kept/,$item,/,}
        done
    done
    kept=${kept#,}
    echo "${kept%,}"
}

# Print an option of [filter_scheduler] without blanks, or what Nova takes instead.
# pcloud_nova_list option default
function pcloud_nova_list {
    local found
    found=$(iniget $NOVA_CONF filter_scheduler $1)
    found=${found// /}
    echo "${found:-${2:-}}"
}

function pcloud_configure_scheduler {
    local classes
    iniset $NOVA_CONF filter_scheduler enabled_filters "$(pcloud_with \
        "$(pcloud_nova_list enabled_filters "$NOVA_FILTERS")" \
        $PCLOUD_FILTERS)"
    iniset $NOVA_CONF filter_scheduler weight_classes "$(pcloud_with \
        "$(pcloud_nova_list weight_classes $PCLOUD_NOVA_WEIGHERS_CLASS)" \
        $PCLOUD_WEIGHERS_CLASS)"
    classes=$(iniget_multiline $NOVA_CONF filter_scheduler available_filters)
    if [[ -z "$classes" ]]; then
        iniadd $NOVA_CONF filter_scheduler available_filters $PCLOUD_NOVA_FILTERS_CLASS
    fi
    if [[ " $classes " != *" $PCLOUD_FILTERS_CLASS "* ]]; then
        iniadd $NOVA_CONF filter_scheduler available_filters $PCLOUD_FILTERS_CLASS
    fi
}

function pcloud_configure_api {
    iniset $NOVA_API_PASTE_INI filter:pcloud paste.filter_factory pcloud.api:filter_factory
    pcloud_remove_from_pipelines
    sed -i 's/^\(keystone = .*\bkeystonecontext\( legacy_v2_compatible\)\?\)\b/\1 pcloud/' $NOVA_API_PASTE_INI
}

function pcloud_configure_options {
    if [[ -n "$PCLOUD_QUOTA_UNITS" ]]; then
        iniset $NOVA_CONF pcloud quota_units $PCLOUD_QUOTA_UNITS
    fi
}

# Tempest waits for servers only where it knows the filters.
function pcloud_configure_tempest {
    local known
    known=$(iniget $TEMPEST_CONFIG compute-feature-enabled scheduler_enabled_filters)
    if [[ -n "$known" ]]; then
        iniset $TEMPEST_CONFIG compute-feature-enabled scheduler_enabled_filters \
            "$(pcloud_with "${known// /}" $PCLOUD_FILTERS)"
    fi
}

# Two kinds of host to look at. Which hosts go into their pools is left to you.
function pcloud_create_demo {
    local flavor
    for flavor in small:1 large:4; do
        if ! openstack --os-cloud devstack-admin host flavor show ${flavor%:*} >/dev/null 2>&1; then
            openstack --os-cloud devstack-admin host flavor create ${flavor%:*} \
                --units ${flavor#*:} --description "Demo: a ${flavor%:*} host"
        fi
    done
}

function pcloud_remove_from_pipelines {
    sed -i '/^keystone = /s/ pcloud\b//' $NOVA_API_PASTE_INI
}

# Set an option of [filter_scheduler], or delete it where Nova takes that anyway.
# pcloud_put_back option value default
function pcloud_put_back {
    if [[ -z "$2" || "$2" == "${3:-}" ]]; then
        inidelete $NOVA_CONF filter_scheduler $1
    else
        iniset $NOVA_CONF filter_scheduler $1 "$2"
    fi
}

function pcloud_clean_scheduler {
    local class
    local kept=""
    pcloud_put_back enabled_filters "$(pcloud_without \
        "$(pcloud_nova_list enabled_filters)" $PCLOUD_FILTERS)"
    pcloud_put_back weight_classes "$(pcloud_without \
        "$(pcloud_nova_list weight_classes)" \
        $PCLOUD_WEIGHERS_CLASS)" $PCLOUD_NOVA_WEIGHERS_CLASS
    for class in $(iniget_multiline $NOVA_CONF filter_scheduler available_filters); do
        if [[ $class != $PCLOUD_FILTERS_CLASS ]]; then
            kept+="$class "
        fi
    done
    inidelete $NOVA_CONF filter_scheduler available_filters
    if [[ -n "$kept" && "$kept" != "$PCLOUD_NOVA_FILTERS_CLASS " ]]; then
        iniset_multiline $NOVA_CONF filter_scheduler available_filters $kept
    fi
}

function pcloud_clean_api {
    pcloud_remove_from_pipelines
    sed -i '/^\[filter:pcloud\]$/,/^paste.filter_factory = pcloud.api/d' $NOVA_API_PASTE_INI
}

function pcloud_clean_options {
    sed -i '/^\[pcloud\]$/,/^\[/{/^\[pcloud\]$/d; /^\[/!d}' $NOVA_CONF
}

if is_service_enabled pcloud; then
    if [[ "$1" == "stack" && "$2" == "install" ]]; then
        echo_summary "Installing Pcloud"
        setup_develop $PCLOUD_DIR nova
    elif [[ "$1" == "stack" && "$2" == "post-config" ]]; then
        echo_summary "Configuring Pcloud"
        pcloud_configure_scheduler
        pcloud_configure_options
        if is_service_enabled n-api; then
            pcloud_configure_api
        fi
    elif [[ "$1" == "stack" && "$2" == "extra" ]]; then
        if is_service_enabled n-api && [[ "$PCLOUD_DEMO" == "True" ]]; then
            echo_summary "Creating demo host flavors"
            pcloud_create_demo
        fi
    elif [[ "$1" == "stack" && "$2" == "test-config" ]]; then
        if is_service_enabled tempest; then
            echo_summary "Telling tempest of Pcloud"
            pcloud_configure_tempest
        fi
    fi
    # There is no service of its own to stop in "unstack".
    if [[ "$1" == "clean" ]]; then
        echo_summary "Removing Pcloud"
        if [[ -f "$NOVA_CONF" ]]; then
            pcloud_clean_scheduler
            pcloud_clean_options
        fi
        if [[ -f "$NOVA_API_PASTE_INI" ]]; then
            pcloud_clean_api
        fi
        pip_uninstall openstack-pcloud
    fi
fi
