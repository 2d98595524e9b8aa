#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs the Debian packages that are missing, and nothing when all are there.
#   deps.sh PACKAGE...      node/npm are left alone where a node program exists
set -euo pipefail

missing=()
for package in "$@"; do
	case $package in
	nodejs | npm) command -v node >/dev/null && command -v npm >/dev/null && continue ;;
	esac
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
	echo "deps: these packages are missing; install them as root: apt-get install ${missing[*]}" >&2
	exit 2
fi
echo "deps: installing ${#missing[@]} packages: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt-get update -qq >"$log" 2>&1 || { tail -5 "$log" >&2; echo "deps: apt-get update failed, going on with the lists at hand" >&2; }
if ! apt-get install -y --no-install-recommends "${missing[@]}" >"$log" 2>&1; then
	tail -20 "$log" >&2
	echo "deps: apt-get could not install the packages" >&2
	exit 3
fi
