# devstack plugin of Pcloud
#
#     enable_plugin pcloud <url of this repository>
#
# Installs Pcloud into Nova's environment and loads it in nova-scheduler and
# nova-api. Every step may be repeated, and "clean" takes back what was added.

# Print Nova's filters with PcloudFilter at the end, once.
function pcloud_enabled_filters {
    local filters
    filters=$(iniget $NOVA_CONF filter_scheduler enabled_filters)
    filters=${filters:-$NOVA_FILTERS}
    if [[ ",$filters," != *,PcloudFilter,* ]]; then
        filters+=,PcloudFilter
    fi
    echo "$filters"
}

function pcloud_configure_scheduler {
    iniset $NOVA_CONF filter_scheduler enabled_filters "$(pcloud_enabled_filters)"
    iniset_multiline $NOVA_CONF filter_scheduler available_filters \
        nova.scheduler.filters.all_filters pcloud.scheduler.filters.all_filters
    iniset $NOVA_CONF filter_scheduler weight_classes \
        nova.scheduler.weights.all_weighers,pcloud.scheduler.weights.all_weighers
}

function pcloud_configure_api {
    iniset $NOVA_API_PASTE_INI filter:pcloud paste.filter_factory pcloud.api:filter_factory
    pcloud_remove_from_pipelines
    sudo sed -i 's/^\(keystone = .*\bkeystonecontext\)\b/\1 pcloud/' $NOVA_API_PASTE_INI
}

function pcloud_remove_from_pipelines {
    sudo sed -i '/^keystone = /s/ pcloud\b//' $NOVA_API_PASTE_INI
}

if is_service_enabled pcloud; then
    if [[ "$1" == "stack" && "$2" == "install" ]]; then
        echo_summary "Installing Pcloud"
        setup_develop $PCLOUD_DIR nova
    elif [[ "$1" == "stack" && "$2" == "post-config" ]]; then
        echo_summary "Configuring Pcloud"
        pcloud_configure_scheduler
        pcloud_configure_api
    fi
    if [[ "$1" == "clean" && -f "$NOVA_API_PASTE_INI" ]]; then
        pcloud_remove_from_pipelines
    fi
fi
