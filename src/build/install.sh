#!/bin/sh
# Installs turnguard from a release: the archive for this machine, checked
# against SHA256SUMS, unpacked below a prefix. Needs no network when the files
# lie beside this script.
set -eu

say() { printf '%s\n' "$*"; }
refuse() {
  printf 'install.sh: %s; nothing was installed; %s\n' "$1" "$2" >&2
  exit 1
}

usage() {
  cat <<'USAGE'
usage: sh install.sh [--from FOLDER | --file ARCHIVE] [--prefix DIR]
       sh install.sh --uninstall [--prefix DIR]

  --from FOLDER   folder with the archives and SHA256SUMS; this script's when
                  they lie beside it
  --file ARCHIVE  this archive; SHA256SUMS beside it is used
  --url URL       fetch archive and sums from there first (curl or wget)
  --prefix DIR    install below DIR (/usr/local for root, else ~/.local)
  --uninstall     take out what was installed below the prefix
USAGE
}

prefix='' from='' file='' url='' uninstall=''
while [ $# -gt 0 ]; do
  case $1 in
    --prefix | --from | --file | --url)
      if [ $# -lt 2 ]; then refuse "$1 needs a value" 'see --help'; fi
      case $1 in
        --prefix) prefix=$2 ;;
        --from) from=$2 ;;
        --file) file=$2 ;;
        --url) url=$2 ;;
      esac
      shift
      ;;
    --uninstall) uninstall=yes ;;
    --help | -h) usage; exit 0 ;;
    *) refuse "$1 is not understood" 'see --help' ;;
  esac
  shift
done

if [ -z "$prefix" ]; then
  if [ "$(id -u)" = 0 ]; then
    prefix=/usr/local
  elif [ -n "${HOME:-}" ]; then
    prefix=$HOME/.local
  else
    refuse 'HOME is not set' 'name a folder with --prefix'
  fi
fi
case $prefix in
  /*) ;;
  *) prefix=$PWD/$prefix ;;
esac
# Other tools know a Pi session by a folder of that name in a program's path.
case "$prefix/" in
  */pi/*) refuse "$prefix has a folder named pi" 'choose another --prefix' ;;
esac

share=$prefix/share/turnguard
list=$share/installed

if [ -n "$uninstall" ]; then
  if [ ! -f "$list" ]; then refuse "nothing is installed below $prefix" 'name its --prefix'; fi
  while IFS= read -r path; do
    case $path in
      */../* | /*) ;;
      ?*) rm -f "$prefix/$path" ;;
    esac
  done <"$list"
  rm -f "$list"
  rmdir "$share" 2>/dev/null || :
  say "Took turnguard out of $prefix."
  say 'Hooks that still call it end with an error and block nothing; take them'
  say 'out with: turnguard uninstall all (before), or by hand.'
  exit 0
fi

# Where the executable can run at all.
machine=$(uname -m)
case $(uname -s) in
  Linux)
    case $machine in
      x86_64 | amd64) target=x86_64-unknown-linux-gnu loader=/lib64/ld-linux-x86-64.so.2 ;;
      aarch64 | arm64) target=aarch64-unknown-linux-gnu loader=/lib/ld-linux-aarch64.so.1 ;;
      *) refuse "there is no turnguard for Linux on $machine" 'x86_64 and aarch64 are built' ;;
    esac
    if [ ! -e "$loader" ]; then
      for musl in /lib/ld-musl-*; do
        if [ -e "$musl" ]; then
          refuse 'this system uses musl' 'turnguard needs glibc 2.27 or later'
        fi
      done
      refuse "there is no $loader" 'turnguard needs glibc 2.27 or later'
    fi
    glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null | sed 's/^glibc //') || glibc=
    if [ -z "$glibc" ]; then
      glibc=$(LC_ALL=C "$loader" --version 2>/dev/null |
        sed -n '1s/.*[Vv]ersion \([0-9]*\.[0-9]*\).*/\1/p') || glibc=
    fi
    case $glibc in
      [0-9]*.[0-9]*)
        major=${glibc%%.*} minor=${glibc#*.} minor=${minor%%[!0-9]*}
        if [ "$major" -lt 2 ] || { [ "$major" -eq 2 ] && [ "$minor" -lt 27 ]; }; then
          refuse "this system has glibc $glibc" 'turnguard needs glibc 2.27 or later'
        fi
        ;;
    esac
    if [ ! -r /proc/self/stat ]; then
      refuse '/proc is not mounted' 'turnguard knows processes by it: mount it'
    fi
    ;;
  Darwin)
    case $machine in
      arm64) target=aarch64-apple-darwin ;;
      x86_64) target=x86_64-apple-darwin ;;
      *) refuse "there is no turnguard for macOS on $machine" 'arm64 and x86_64 are built' ;;
    esac
    ;;
  *) refuse "there is no turnguard for $(uname -s)" 'Linux and macOS are supported' ;;
esac

work=$(mktemp -d) || refuse 'no temporary folder can be made' 'set TMPDIR to a writable one'
trap 'rm -rf "$work"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

if [ -n "$url" ]; then
  fetch() {
    if command -v curl >/dev/null 2>&1; then
      curl -fsSL -o "$2" "$1"
    elif command -v wget >/dev/null 2>&1; then
      wget -q -O "$2" "$1"
    else
      refuse 'neither curl nor wget is there' 'carry the files here and use --from'
    fi
  }
  fetch "$url/SHA256SUMS" "$work/SHA256SUMS" ||
    refuse "$url/SHA256SUMS cannot be fetched" 'carry the files here and use --from'
  name=$(sed -n "s/^[0-9a-f]*  \(turnguard-.*-$target\.tar\.gz\)$/\1/p" "$work/SHA256SUMS")
  if [ -z "$name" ]; then refuse "that release has nothing for $target" 'see its SHA256SUMS'; fi
  fetch "$url/$name" "$work/$name" ||
    refuse "$url/$name cannot be fetched" 'carry the files here and use --from'
  file=$work/$name
fi
if [ -z "$file" ]; then
  if [ -z "$from" ]; then from=$(dirname "$0"); fi
  for each in "$from"/turnguard-*-"$target".tar.gz; do
    if [ ! -f "$each" ]; then
      refuse "there is no turnguard-VERSION-$target.tar.gz in $from" 'name its folder with --from'
    fi
    if [ -n "$file" ]; then refuse "there are several archives in $from" 'name one with --file'; fi
    file=$each
  done
fi
if [ ! -f "$file" ]; then refuse "$file is no file" 'name the archive with --file'; fi
name=$(basename "$file")
sums=$(dirname "$file")/SHA256SUMS
case $name in
  turnguard-*-"$target".tar.gz) ;;
  *) refuse "$name is not for this machine" "it needs the archive for $target" ;;
esac
if [ ! -f "$sums" ]; then refuse "there is no SHA256SUMS beside $name" 'it is part of the release'; fi

expected=$(sed -n "s/^\([0-9a-f]\{64\}\)  $name$/\1/p" "$sums")
if [ -z "$expected" ]; then refuse "SHA256SUMS does not name $name" 'take both from one release'; fi
if command -v sha256sum >/dev/null 2>&1; then
  found=$(sha256sum <"$file")
elif command -v shasum >/dev/null 2>&1; then
  found=$(shasum -a 256 <"$file")
elif command -v openssl >/dev/null 2>&1; then
  found=$(openssl dgst -sha256 -r <"$file")
else
  refuse 'neither sha256sum, shasum nor openssl is there' 'the archive must be checked'
fi
found=${found%% *}
if [ "$found" != "$expected" ]; then
  refuse "$name has another checksum than SHA256SUMS says (truncated or changed)" \
    'get it again'
fi

folder=${name%.tar.gz}
gzip -dc "$file" | tar -xf - -C "$work" || refuse "$name cannot be unpacked" 'get it again'
if ! version=$(cd / && "$work/$folder/turnguard" version 2>&1); then
  refuse "the executable does not run here: $version" 'see its README for what it needs'
fi

# Every file is put beside its place and renamed, so that a running hook never
# meets half an executable.
put() {
  mkdir -p "$(dirname "$prefix/$2")"
  cp "$work/$folder/$1" "$prefix/$2.new"
  chmod "$3" "$prefix/$2.new"
  mv -f "$prefix/$2.new" "$prefix/$2"
  printf '%s\n' "$2" >>"$work/installed"
}
: >"$work/installed"
mkdir -p "$share" 2>/dev/null || refuse "$prefix cannot be written" 'choose another --prefix'
put turnguard bin/turnguard 755
for each in "$work/$folder"/man/man1/*; do
  put "man/man1/$(basename "$each")" "share/man/man1/$(basename "$each")" 644
done
put completions/turnguard.bash share/bash-completion/completions/turnguard 644
put completions/_turnguard share/zsh/site-functions/_turnguard 644
put completions/turnguard.fish share/fish/vendor_completions.d/turnguard.fish 644
for each in LICENSE README.md CHANGELOG.md; do put "$each" "share/turnguard/$each" 644; done
cp "$work/installed" "$list"

say "Installed $version"
say "  $prefix/bin/turnguard"
case ":$PATH:" in
  *":$prefix/bin:"*) ;;
  *) say "$prefix/bin is not in your PATH; hooks do not need that, you may." ;;
esac
say 'Next: turnguard init DIR, then turnguard install HARNESS in it.'
