#!/bin/sh
# Trains on several processes with the programs of `make MPI=1`. The result must have the same bytes for every number of processes, after
# an interrupt, and after a process was killed. Fails if the bytes differ, a run hangs, or a process is left running.
#   tests/mpi.sh [KILLS]     from the top of the tree; needs mpirun
set -u
kills=${1:-5}
train=$PWD/build/mpi/bin/train
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
failed=0

# on N OPTION...: a training by N processes.
on() {
    processes=$1
    shift
    mpirun --oversubscribe --quiet -n "$processes" "$train" --threads 1 --no-plots --shards 8 "$@" > said 2>&1
}
bytes() { sha256sum < "$1/best.safetensors" | cut -c 1-16; }
expect() { # WHAT WANTED GOT
    [ "$2" = "$3" ] || { echo "$1: $3, expected $2" && cat said && failed=1; }
}

# The GPT is large enough for the processes to divide the optimiser's step among them; the other two models are not.
seq 3000 | sed 's/.*[27]$/the king of night &/; s/.*[05]$/will hear no more &/' > text
gpt="--data text:text --width 64 --heads 2 --layers 2 --batch 16 --epoch-windows 160 --dropout 0.1"
for model in "$gpt --epochs 2" "--data glyphs --model convnet --rows 1000 --epochs 2" "--data moons --dropout 0.1 --epochs 4"; do
    for n in 1 2 3 4 8; do
        rm -rf out
        on $n $model --out out
        now=$(bytes out)
        [ $n != 1 ] || first=$now
        expect "$n processes, $model" "$first" "$now"
    done
    echo "$first on 1, 2, 3, 4 and 8 processes: $model"
done

long="$gpt --epochs 600"
on 2 $long --out never
never=$(bytes never)
on 2 $long --out stopped &
sleep 3
kill -INT "$(pgrep -P $! | head -n 1)"
wait $!
status=$?
on 4 $long --out stopped
expect "stopped on 2 processes with status $status, continued on 4" "$never" "$(bytes stopped)"
grep "goes on" said

long="$gpt --epochs 60"
on 2 $long --out never2
never=$(bytes never2)
slowest=0
for kill in $(seq "$kills"); do
    rm -rf killed
    on 3 $long --out killed &
    mpirun=$!
    sleep "$(awk -v seed="$kill" 'BEGIN { srand(seed); print 0.5 + 2 * rand() }')"
    team=$(pgrep -P "$(pgrep -P $mpirun | head -n 1)")
    victim=$(echo "$team" | shuf -n 1)
    [ -n "$victim" ] && kill -9 "$victim"
    begin=$(date +%s%N)
    wait $mpirun
    status=$?
    took=$((($(date +%s%N) - begin) / 1000000))
    [ $took -lt $slowest ] || slowest=$took
    [ "$status" != 0 ] || [ -f killed/summary.csv ] || { echo "kill $kill: status 0" && failed=1; }
    sleep 0.2
    for process in $team; do
        for tenth in $(seq 100); do
            kill -0 "$process" 2> /dev/null || break
            sleep 0.1
        done
        ! kill -0 "$process" 2> /dev/null || { echo "kill $kill: process $process is left" && failed=1; }
    done
    on 2 $long --out killed
    expect "kill $kill: continued on 2 processes" "$never" "$(bytes killed)"
done
echo "$kills kills, continued to the right bytes; the others ended within $slowest ms"
exit $failed
