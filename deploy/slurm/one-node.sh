#!/usr/bin/env bash
# Sets up a Slurm of one node on this machine, to try the jobs of this folder. It uses Debian's
# packages and starts the daemons itself, so that it works in containers without systemd. As root:
#   one-node.sh start    installs missing packages, writes /etc/slurm/slurm.conf, starts the daemons
#   one-node.sh stop     stops these daemons
# It does not change a machine with another slurm.conf.
set -euo pipefail
conf=/etc/slurm/slurm.conf
mark='# written by one-node.sh of fdridge'
die() { printf 'one-node.sh: %s\n' "$*" >&2; exit 1; }
[ "$(id -u)" = 0 ] || die 'needs root'
[ ! -e $conf ] || grep -qxF "$mark" $conf || die "$conf is somebody else's"

install_packages() {
  local need=() package
  # slurm-wlm contains slurmctld, slurmd and, in slurm-wlm-basic-plugins, mpi/pmix. srun starts
  # Debian's Open MPI with it, because both use libpmix2. munge signs the messages.
  for package in slurm-wlm munge openmpi-bin; do
    dpkg -s $package >/dev/null 2>&1 || need+=("$package")
  done
  [ ${#need[@]} -gt 0 ] || return 0
  apt-get update -q >/dev/null
  DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "${need[@]}" >/dev/null
}

write_conf() {
  local host node
  host=$(hostname -s)
  node=$(slurmd -C | grep '^NodeName=') # CPUs, sockets, cores and memory found by slurmd
  cat >$conf <<END
$mark
ClusterName=one
SlurmctldHost=$host(127.0.0.1)
SlurmUser=slurm
AuthType=auth/munge
# Open MPI learns its rank and its peers from srun by PMIx.
MpiDefault=pmix
# No cgroups, which a container may not create. Processes are tracked by their parents.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
JobAcctGatherType=jobacct_gather/none
# Cores are allocated singly, so that several jobs share the node.
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
# Short times for a short-lived Slurm. A requeued job waits until the credentials of its first run
# expire, by default 120 s.
AuthInfo=cred_expire=5
SchedulerParameters=sched_min_interval=100000,batch_sched_delay=0
ReturnToService=2
StateSaveLocation=/var/lib/slurm/slurmctld
SlurmdSpoolDir=/var/lib/slurm/slurmd
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
SlurmctldLogFile=/var/log/slurm/slurmctld.log
SlurmdLogFile=/var/log/slurm/slurmd.log
$node NodeAddr=127.0.0.1
PartitionName=one Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
}

start() {
  install_packages
  install -d -o munge -g munge -m 0755 /run/munge
  runuser -u munge -- munged
  write_conf
  slurmctld -c # -c: forget the jobs of an earlier start
  slurmd
  for _ in $(seq 100); do
    [ "$(sinfo -h -o %T 2>/dev/null)" = idle ] && { sinfo; return; }
    sleep 0.1
  done
  tail -n 5 /var/log/slurm/*.log >&2
  die 'the node does not become idle'
}

stop() {
  local pidfile pid
  for pidfile in /run/slurmd.pid /run/slurmctld.pid /run/munge/munged.pid; do
    [ -s $pidfile ] || continue
    pid=$(cat $pidfile)
    kill "$pid" 2>/dev/null || continue
    while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
  done
  rm -f $conf
}

case ${1:-} in
  start) start ;;
  stop) stop ;;
  *) die 'start or stop?' ;;
esac
