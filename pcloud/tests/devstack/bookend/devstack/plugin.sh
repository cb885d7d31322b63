# devstack plugin that records what it finds, for pcloud.tests.devstack.
#
#     enable_plugin bookend-before <url of this repository> main
#     enable_plugin pcloud ...
#     enable_plugin bookend-after <url of this repository> main
#
# What is in the second record of a phase and not in the first was made by the
# plugins between.

# Copy the configuration, and list links, packages, and what is of Pcloud in
# devstack's environment: commands, entry points and the package. Packages
# that Pcloud depends on stay there after "pip uninstall", as always.
# bookend_record name
function bookend_record {
    local folder
    sudo mkdir -p $DEST/records
    folder=$DEST/records/$(printf %03d $(ls $DEST/records | wc -l))-$1
    sudo mkdir $folder
    sudo cp -a /etc $folder/etc
    find /usr/local -printf '%p -> %l\n' | sudo tee $folder/usr-local >/dev/null
    dpkg-query --show | sudo tee $folder/packages >/dev/null
    find $DEVSTACK_VENV -ipath '*pcloud*' ! -name '*.pyc' | sudo tee $folder/environment >/dev/null
}

# What configure_neutron_nova writes in the background is not of the plugins.
if [[ "$1 $2" == "stack post-config" ]]; then
    async_wait configure_neutron_nova
fi
bookend_record $1${2:+-$2}-$(basename $(dirname $(dirname ${BASH_SOURCE[0]})))
