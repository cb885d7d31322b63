# devstack plugin of Pcloud
#
#     enable_plugin pcloud file:///opt/stack/pcloud-source main
#
# Installs Pcloud into Nova's environment and loads it in nova-scheduler and
# nova-api, beside which the service pcloud-worker runs; where Horizon is
# enabled, its pages for Pclouds are too. Every phase may be repeated: what is
# there is neither replaced nor added twice. "clean" takes back what was added.

# Save trace setting
_XTRACE_PCLOUD=$(set +o | grep xtrace)
set +o xtrace

PCLOUD_FILTERS_CLASS=pcloud.scheduler.filters.all_filters
PCLOUD_WEIGHERS_CLASS=pcloud.scheduler.weights.all_weighers
# What Nova takes where nothing is set.
PCLOUD_NOVA_FILTERS_CLASS=nova.scheduler.filters.all_filters
PCLOUD_NOVA_WEIGHERS_CLASS=nova.scheduler.weights.all_weighers
# What administrators type.
PCLOUD_COMMANDS="pcloud-manage pcloud-status"

# Print a list, separated by commas, with the items of another at its end, once.
# pcloud_with list items
function pcloud_with {
    local item
    local all=$1
    for item in ${2//,/ }; do
        if [[ ",$all," != *,$item,* ]]; then
            all+="${all:+,}$item"
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

# Print a list of an INI file without blanks. Whoever writes several lines means
# all of them, of which Nova takes the last: their items are one list here.
# pcloud_list file section option
function pcloud_list {
    pcloud_with "" "$(iniget_multiline "$1" "$2" "$3")"
}

function pcloud_configure_scheduler {
    local filters weighers classes
    filters=$(pcloud_list $NOVA_CONF filter_scheduler enabled_filters)
    iniset $NOVA_CONF filter_scheduler enabled_filters \
        "$(pcloud_with "${filters:-$NOVA_FILTERS}" $PCLOUD_FILTERS)"
    weighers=$(pcloud_list $NOVA_CONF filter_scheduler weight_classes)
    iniset $NOVA_CONF filter_scheduler weight_classes \
        "$(pcloud_with "${weighers:-$PCLOUD_NOVA_WEIGHERS_CLASS}" $PCLOUD_WEIGHERS_CLASS)"
    classes=$(iniget_multiline $NOVA_CONF filter_scheduler available_filters)
    if [[ " $classes " != *" $PCLOUD_FILTERS_CLASS "* ]]; then
        iniadd_literal $NOVA_CONF filter_scheduler available_filters $PCLOUD_FILTERS_CLASS
    fi
    if [[ -z "$classes" ]]; then
        iniadd_literal $NOVA_CONF filter_scheduler available_filters $PCLOUD_NOVA_FILTERS_CLASS
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
    known=$(pcloud_list $TEMPEST_CONFIG compute-feature-enabled scheduler_enabled_filters)
    if [[ -n "$known" ]]; then
        iniset $TEMPEST_CONFIG compute-feature-enabled scheduler_enabled_filters \
            "$(pcloud_with "$known" $PCLOUD_FILTERS)"
    fi
}

# Horizon reads these files when it starts. The package is in its environment,
# which is Nova's, and has policies, texts and static files in itself;
# init_horizon collects those after this phase.
function pcloud_enable_dashboard {
    cp $PCLOUD_DIR/pcloud_dashboard/enabled/_[0-9]*.py $PCLOUD_HORIZON_ENABLED
}

function pcloud_disable_dashboard {
    local path
    for path in $PCLOUD_DIR/pcloud_dashboard/enabled/_[0-9]*.py; do
        rm -f $PCLOUD_HORIZON_ENABLED/${path##*/}
    done
}

# devstack's environment is in nobody's PATH; stack.sh links Nova's commands too.
function pcloud_link_commands {
    local name
    if [[ "$GLOBAL_VENV" == "True" ]]; then
        for name in $PCLOUD_COMMANDS; do
            sudo ln -sf $DEVSTACK_VENV/bin/$name /usr/local/bin
        done
    fi
}

# The worker logs in to the projects in which scaled services follow others.
function pcloud_let_worker_in {
    local domain
    for domain in $(openstack --os-cloud devstack-admin domain list -f value -c ID); do
        openstack --os-cloud devstack-admin role add --user nova \
            --user-domain "$SERVICE_DOMAIN_NAME" --domain $domain --inherited member
    done
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

# Sections of local.conf are merged after this plugin and may have replaced
# what it added; a cloud without isolation is no Pcloud. 1 stands for warnings.
function pcloud_check {
    local code=0
    $NOVA_BIN_DIR/pcloud-status --config-file $NOVA_CONF upgrade check || code=$?
    if [[ $code -gt 1 ]]; then
        die $LINENO "Nova does not isolate the hosts of Pclouds: the table of" \
            "\"pcloud-status upgrade check\" above says what is wrong and what is right." \
            "A [[post-config|\$NOVA_CONF]] section of local.conf replaces what the plugin" \
            "added to [filter_scheduler]: lists there have to name Pcloud's as well," \
            "enabled_filters = <the filters you want>,$PCLOUD_FILTERS"
    fi
}

function pcloud_remove_from_pipelines {
    sed -i '/^keystone = /s/ pcloud\b//' $NOVA_API_PASTE_INI
}

# Take items from a list of an INI file; delete the option where nothing is
# left, or what Nova takes anyway.
# pcloud_take_back file section option items [default]
function pcloud_take_back {
    local there kept
    there=$(pcloud_list $1 $2 $3)
    kept=$(pcloud_without "$there" $4)
    if [[ -z "$kept" || "$kept" == "${5:-}" ]]; then
        inidelete $1 $2 $3
    elif [[ "$kept" != "$there" ]]; then
        iniset $1 $2 $3 "$kept"
    fi
}

# Delete a section and the empty line in front of it.
# pcloud_delete_section file section
function pcloud_delete_section {
    sed -Ezi "s/(^|\n)\n?\[$2\]\n(\n*[^[\n][^\n]*\n)*/\1/" $1
}

function pcloud_clean_scheduler {
    pcloud_take_back $NOVA_CONF filter_scheduler enabled_filters $PCLOUD_FILTERS
    pcloud_take_back $NOVA_CONF filter_scheduler weight_classes \
        $PCLOUD_WEIGHERS_CLASS $PCLOUD_NOVA_WEIGHERS_CLASS
    sed -i "/^available_filters[ \t]*=[ \t]*$PCLOUD_FILTERS_CLASS *$/d" $NOVA_CONF
    if [[ "$(iniget_multiline $NOVA_CONF filter_scheduler available_filters)" == "$PCLOUD_NOVA_FILTERS_CLASS" ]]; then
        inidelete $NOVA_CONF filter_scheduler available_filters
    fi
}

function pcloud_clean_api {
    pcloud_remove_from_pipelines
    pcloud_delete_section $NOVA_API_PASTE_INI filter:pcloud
}

function pcloud_clean_tempest {
    pcloud_take_back $TEMPEST_CONFIG compute-feature-enabled scheduler_enabled_filters $PCLOUD_FILTERS
}

# Where there is a global environment, pip_uninstall has to be told of it.
function pcloud_uninstall {
    local PIP_VIRTUAL_ENV=${PIP_VIRTUAL_ENV:-}
    local name
    if [[ "$GLOBAL_VENV" == "True" ]]; then
        PIP_VIRTUAL_ENV=$DEVSTACK_VENV
        for name in $PCLOUD_COMMANDS; do
            sudo rm -f /usr/local/bin/$name
        done
    fi
    pip_uninstall openstack-pcloud
}

if is_service_enabled pcloud; then
    if [[ "$1" == "stack" && "$2" == "install" ]]; then
        echo_summary "Installing Pcloud"
        setup_develop $PCLOUD_DIR nova
        pcloud_link_commands
    elif [[ "$1" == "stack" && "$2" == "post-config" ]]; then
        echo_summary "Configuring Pcloud"
        # It writes nova.conf in the background; of two writers one loses lines.
        async_wait configure_neutron_nova
        pcloud_configure_scheduler
        pcloud_configure_options
        if is_service_enabled n-api; then
            pcloud_configure_api
        fi
        if is_service_enabled horizon && [[ "$PCLOUD_DASHBOARD" == "True" ]]; then
            echo_summary "Enabling the dashboard of Pcloud"
            pcloud_enable_dashboard
        fi
    elif [[ "$1" == "stack" && "$2" == "extra" ]]; then
        # The worker needs what nova-api has: the databases, and the API around it.
        if is_service_enabled n-api && is_service_enabled pcloud-worker; then
            pcloud_let_worker_in
            run_process pcloud-worker "$NOVA_BIN_DIR/pcloud-manage --config-file $NOVA_CONF work"
        fi
        if is_service_enabled n-api && [[ "$PCLOUD_DEMO" == "True" ]]; then
            echo_summary "Creating demo host flavors"
            pcloud_create_demo
        fi
    elif [[ "$1" == "stack" && "$2" == "test-config" ]]; then
        if is_service_enabled tempest; then
            echo_summary "Telling tempest of Pcloud"
            pcloud_configure_tempest
        fi
        if is_service_enabled n-api n-sch; then
            echo_summary "Checking Pcloud"
            pcloud_check
        fi
    fi
    if [[ "$1" == "unstack" ]]; then
        stop_process pcloud-worker
    fi
    if [[ "$1" == "clean" ]]; then
        echo_summary "Removing Pcloud"
        if [[ -f "$NOVA_CONF" ]]; then
            pcloud_clean_scheduler
            pcloud_delete_section $NOVA_CONF pcloud
        fi
        if [[ -f "$NOVA_API_PASTE_INI" ]]; then
            pcloud_clean_api
        fi
        if [[ -f "${TEMPEST_CONFIG:-}" ]]; then
            pcloud_clean_tempest
        fi
        if [[ -d "$PCLOUD_HORIZON_ENABLED" ]]; then
            pcloud_disable_dashboard
        fi
        pcloud_uninstall
    fi
fi

# Restore xtrace
$_XTRACE_PCLOUD
