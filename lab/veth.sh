#!/bin/bash
# A wire and no device: a veth pair between two namespaces, for tests of ports.
#
#   PREFIX-a:a0 ============= b0:PREFIX-b
#   02:00:00:00:01:02         02:00:00:00:02:02
#
#   veth.sh up   PREFIX DIR [mtu=N] [queues=N]   namespaces PREFIX-a, -b
#   veth.sh down PREFIX DIR
#
# Debian package: iproute2. Needs root. No IPv6 and no addresses, so the kernels at both ends stay silent.
set -eu
action=$1 prefix=$2
shift 3
a=$prefix-a b=$prefix-b

mtu=1500 queues=1
for option in "$@"; do
  case $option in
  mtu=* | queues=*) declare "$option" ;;
  *) echo "veth.sh: unknown option $option" >&2; exit 2 ;;
  esac
done

case $action in
up)
  for ns in "$a" "$b"; do
    ip netns add "$ns"
    ip netns exec "$ns" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
  done
  ip link add a0 netns "$a" mtu "$mtu" numtxqueues "$queues" numrxqueues "$queues" address 02:00:00:00:01:02 type veth \
    peer name b0 mtu "$mtu" numtxqueues "$queues" numrxqueues "$queues" address 02:00:00:00:02:02 netns "$b"
  ip -n "$a" link set a0 up
  ip -n "$b" link set b0 up
  echo up
  ;;
down)
  for ns in "$a" "$b"; do ip netns del "$ns" 2>/dev/null || true; done
  ;;
*) echo "usage: veth.sh up|down PREFIX DIR [mtu=N]" >&2; exit 2 ;;
esac
