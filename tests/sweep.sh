#!/bin/sh
# Runs one comparison on four machines that share a folder, and kills some of them. Every run must be trained once, and the table must be
# the one that a single process prints. The machines are simulated by host names, so that the others notice a killed one only by its
# silence.
#   tests/sweep.sh [ROUNDS]     from the top of the tree, after make; needs unshare
set -u
rounds=${1:-3}
compare=$PWD/${TG_BUILD:-build}/bin/compare
folder=$(mktemp -d)
trap "rm -rf \"$folder\"" EXIT
cd "$folder" || exit 1
options="--data moons --hidden 64x3 --activations relu,gelu_exact,silu,tanh --seeds 6 --epochs 200 --no-plots --jobs 2 --takeover 2"
runs=24
failed=0

"$compare" $options --out alone > alone.table 2> alone.said || { cat alone.said && exit 1; }
sort_curves() { sed 's/,[^,]*$//' "$1/curves.csv" | sha256sum; }

# machine N: the same command under a host name of its own.
machine() {
    unshare --user --map-root-user --uts sh -c 'hostname "$1" && shift && exec "$@"' sh "machine$1" \
        "$compare" $options --out shared > "table$1" 2>> "said$1"
}

for round in $(seq "$rounds"); do
    rm -rf shared said? table?
    for m in 1 2 3 4; do
        machine $m &
        eval "pid$m=$!"
    done
    for kill in 2 3 4; do
        sleep "$(awk -v seed="$round$kill" 'BEGIN { srand(seed); print 0.2 + 1.2 * rand() }')"
        eval "pkill -KILL -P \$pid$kill; kill -KILL \$pid$kill" 2> /dev/null
        [ $kill = 3 ] && machine 3 & # which comes back
    done
    wait
    trained=$(cat said? | grep -c ': done, ')
    taken=$(cat said? | grep -c 'waiting for')
    sed 's/shared/alone/' table1 | cmp -s - alone.table || { echo "round $round: another table" && failed=1; }
    [ "$(sort_curves shared)" = "$(sort_curves alone)" ] || { echo "round $round: other curves" && failed=1; }
    [ "$trained" -le $runs ] && [ "$trained" -ge $((runs - 4)) ] || { echo "round $round: $trained runs trained" && failed=1; }
    [ "$(ls shared/runs/*/result.json | wc -l)" = $runs ] || { echo "round $round: runs are missing" && failed=1; }
    echo "round $round: $runs runs, $trained said to be trained, $taken processes waited"
done
[ $failed = 0 ] && echo "$rounds rounds on four machines: every run once, the table of one process"
exit $failed
