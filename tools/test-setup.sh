#!/bin/bash -e
# What the suites find on a machine, made with root's rights before they run:
# OpenStack's jobs call this script, and take the rights away afterwards.

# "tox -e concurrency" wants a MariaDB that lets root in without a password.
if command -v mariadbd >/dev/null; then
    sudo systemctl start mariadb
    sudo mariadb -e "ALTER USER root@localhost IDENTIFIED VIA mysql_native_password USING PASSWORD('')"
fi
