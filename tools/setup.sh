#!/usr/bin/env bash
# Installs what is missing on a Debian machine, and lets no server of the system start.
#
#   tools/setup.sh venv DIR    a virtualenv of Python 3.11 or newer (python3-venv where absent)
#   tools/setup.sh servers     PostgreSQL, PgBouncer, MariaDB and Galera for the tests (where absent)
#   tools/setup.sh shells      zsh and fish, in which completion is tested (where absent)
set -euo pipefail

POLICY=/usr/sbin/policy-rc.d
SAVED_POLICY=/usr/sbin/policy-rc.d.before-sessiondb
OUR_POLICY='#!/bin/sh
# sessiondb tools/setup.sh: no server starts while packages are installed.
exit 101'
CLUSTERS=/etc/postgresql-common/createcluster.conf

fail() {
    printf 'setup: %s\n' "$*" >&2
    exit 1
}

quietly() {
    local log
    log=$(mktemp)
    if "$@" >"$log" 2>&1 </dev/null; then
        rm -f "$log"
    else
        cat "$log" >&2
        rm -f "$log"
        return 1
    fi
}

apt() {
    DEBIAN_FRONTEND=noninteractive quietly apt-get -qq -y -o DPkg::Lock::Timeout=300 -o Dpkg::Options::=--force-confold "$@"
}

hold_servers() {
    # A policy of ours that a killed run left behind is not one to bring back.
    if [ -e "$POLICY" ] && [ "$(cat "$POLICY")" != "$OUR_POLICY" ]; then
        mv "$POLICY" "$SAVED_POLICY"
    fi
    printf '%s\n' "$OUR_POLICY" >"$POLICY"
    chmod 755 "$POLICY"
}

release_servers() {
    rm -f "$POLICY"
    if [ -e "$SAVED_POLICY" ]; then
        mv "$SAVED_POLICY" "$POLICY"
    fi
}

no_main_cluster() {
    mkdir -p "$(dirname "$CLUSTERS")"
    if ! grep -qs '^ *create_main_cluster *= *false' "$CLUSTERS"; then
        printf 'create_main_cluster = false\n' >>"$CLUSTERS"
    fi
}

install_packages() {
    [ "$(id -u)" -eq 0 ] || fail "missing here: $*. Run this as root, or ask root for: apt-get install $*"
    command -v apt-get >/dev/null || fail "missing here: $*. There is no apt-get to install them; install them another way."
    printf 'setup: installing %s\n' "$*" >&2
    trap release_servers EXIT
    hold_servers
    apt update || apt update || fail "apt-get update failed twice"
    apt install --no-install-recommends "$@" || fail "apt-get could not install: $*"
    release_servers
    trap - EXIT
}

has_postgresql() {
    command -v initdb >/dev/null || compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null
}

has_pgbouncer() {
    command -v pgbouncer >/dev/null || [ -x /usr/sbin/pgbouncer ]
}

has_galera() {
    compgen -G '/usr/lib*/galera*/libgalera_smm.so' >/dev/null || [ -e /usr/lib/libgalera_smm.so ]
}

has_mariadb() {
    command -v mariadbd >/dev/null || [ -x /usr/sbin/mariadbd ]
}

servers() {
    local missing=()
    if ! has_postgresql; then
        missing+=(postgresql)
        [ "$(id -u)" -ne 0 ] || no_main_cluster
    fi
    has_pgbouncer || missing+=(pgbouncer)
    has_mariadb || missing+=(mariadb-server)
    has_galera || missing+=(galera-4)
    # Copies the data to a node that joins a cluster.
    command -v rsync >/dev/null || missing+=(rsync)
    [ "${#missing[@]}" -eq 0 ] || install_packages "${missing[@]}"
}

shells() {
    local missing=() shell
    for shell in zsh fish; do
        command -v "$shell" >/dev/null || missing+=("$shell")
    done
    [ "${#missing[@]}" -eq 0 ] || install_packages "${missing[@]}"
}

is_recent() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

find_python() {
    if [ -n "${PYTHON:-}" ]; then
        is_recent "$PYTHON" || fail "PYTHON=$PYTHON is not a Python 3.11 or newer"
        echo "$PYTHON"
        return
    fi
    local candidate
    for candidate in python3 python3.14 python3.13 python3.12 python3.11; do
        if is_recent "$candidate"; then
            echo "$candidate"
            return
        fi
    done
    fail "no Python 3.11 or newer found; install one, or name it: make PYTHON=/path/to/python3"
}

is_usable() {
    is_recent "$1/bin/python" && "$1/bin/python" -m pip --version >/dev/null 2>&1
}

venv() {
    if is_usable "$1"; then
        return
    fi
    local python version
    python=$(find_python)
    if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
        install_packages "python$version-venv"
    fi
    "$python" -m venv --clear "$1"
}

case "${1:-}" in
    venv) venv "${2:?a directory}" ;;
    servers) servers ;;
    shells) shells ;;
    *) fail "usage: tools/setup.sh venv DIR | servers | shells" ;;
esac
