# SPDX-License-Identifier: BSD-2-Clause
# Debian packages: what scripts/packages.txt names and the machine lacks.

# missing_packages LIST...: packages of the lists that are not installed, one a line.
missing_packages() {
  local list package rest
  while read -r list package rest; do
    case " $* " in
      *" $list "*) ;;
      *) continue ;;
    esac
    if [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" != installed ]; then
      echo "$package"
    fi
  done < <(grep -Ev '^(#|$)' scripts/packages.txt)
}

# need_packages LIST...: install what is missing, or say what is and stop.
need_packages() {
  local missing
  if ! command -v dpkg-query >/dev/null; then
    echo "run.sh: this is not a Debian system; install what scripts/packages.txt names by hand" >&2
    return
  fi
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" -ne 0 ]; then
    echo "run.sh: packages are missing: ${missing[*]}" >&2
    echo "Install them with:" >&2
    echo "  sudo apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  echo "== installing ${#missing[@]} packages: ${missing[*]}"
  apt-get update -q
  DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
}

# want_packages LIST...: install what is missing, or say what is and go on.
want_packages() {
  (need_packages "$@") || echo "run.sh: going on without them" >&2
}
