#!/bin/bash
# One day on several machines of a Slurm cluster, one process on each:
#
#     sbatch --export=ALL,DAY=2026-11-20 slurm.sh
#
# Many days in their order: an array with one task at a time, `sbatch --array=0-6%1 --export=ALL,FIRST=2026-11-18 slurm.sh`.
# Inputs, outputs, the store and the secret must be on a file system that all machines share.
#SBATCH --job-name=dupsieve
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=16
#SBATCH --mem=32G
#SBATCH --signal=B:TERM@60
set -euo pipefail

config=${DUPSIEVE_CONFIG:-/etc/dupsieve/daily.toml}
secret=${DUPSIEVE_SECRET_FILE:-$HOME/.dupsieve-secret}
day=${DAY:-$(date -d "$FIRST + ${SLURM_ARRAY_TASK_ID:-0} days" +%F)}
hosts=$(mktemp -p "$SLURM_SUBMIT_DIR" "hosts-$SLURM_JOB_ID.XXXX")
trap 'rm -f "$hosts"' EXIT
scontrol show hostnames "$SLURM_JOB_NODELIST" | sed 's/$/:7400/' >"$hosts"

code=0
srun --kill-on-bad-exit=1 bash -c 'exec dupsieve run "$0" --date "$1" --hosts "$2" --process "$SLURM_PROCID" \
    --secret-file "$3" --workers "$SLURM_CPUS_PER_TASK"' "$config" "$day" "$hosts" "$secret" || code=$?
case $code in
    69 | 74 | 75) scontrol requeue "$SLURM_JOB_ID" ;;
esac
exit "$code"
