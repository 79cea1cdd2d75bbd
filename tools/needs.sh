# Sourced by tools/demo and tools/check: makes sure that what the build needs is there.
# needs TOOL:PACKAGE... installs with apt the Debian packages whose tool (or pkg-config module, pc/NAME; or library that
# the loader finds, lib/NAME; or part of clang's runtime, clang_rt/NAME) is missing; with install=no it names them and stops with status 3.

say() { printf '%s\n' "$*" >&2; }

present() {
    case $1 in
    lib/*) PATH=$PATH:/sbin:/usr/sbin ldconfig -p | grep -qF "${1#lib/} (" ;;
    clang_rt/*) [ -e "$(clang -print-resource-dir)/lib/linux/lib${1/\//.}-$(uname -m).a" ] ;;
    pc/*) command -v pkg-config >/dev/null && pkg-config --exists "${1#pc/}" ;;
    *) command -v "$1" >/dev/null ;;
    esac
}

needs() {
    local pair missing=()
    for pair in "$@"; do
        present "${pair%%:*}" || missing+=("${pair##*:}")
    done
    [ ${#missing[@]} -eq 0 ] && return 0
    if [ "$install" = no ]; then
        say "$0: missing Debian packages (or their like): ${missing[*]}"
        say "Install them, or run without --no-install to have apt do it."
        exit 3
    fi
    if ! command -v apt-get >/dev/null; then
        say "$0: missing: ${missing[*]} (Debian's names), and there is no apt-get here: install them by hand."
        exit 3
    fi
    local root=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || { say "$0: to install ${missing[*]} run as root, or install sudo."; exit 3; }
        root=(sudo)
    fi
    say "Installing ${missing[*]} with apt ..."
    "${root[@]}" apt-get update -qq >&2 &&
        DEBIAN_FRONTEND=noninteractive "${root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2 ||
        { say "$0: apt could not install ${missing[*]}; its messages are above."; exit 3; }
}

# CUDA's usual places, for shells whose PATH lacks nvcc.
find_nvcc() {
    command -v nvcc >/dev/null && return 0
    local dir
    for dir in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda; do
        if [ -n "$dir" ] && [ -x "$dir/bin/nvcc" ]; then
            export PATH="$dir/bin:$PATH"
            return 0
        fi
    done
    return 1
}
