#!/bin/sh
# Runs each program again and again, and each time makes one call fail (an allocation, a file call and so on). The program must not
# crash or hang, and must not report success unless its files are those of an undisturbed run. Prints counts, ends with "N passed, N failed".
#   tests/faults/run.sh BUILD [MOST [PROGRAM...]]     from the top of the tree; at most MOST (200) calls of each kind are tried, spread
#                                                     over all, in each of these programs (all)
set -eu
build=$(cd "$1" && pwd)
most=${2:-200}
[ $# -lt 2 ] || shift 2
programs=${*:-train lstm predict compare study gradcheck activations}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
${CC:-cc} -O1 -fPIC -shared -o "$work/fail.so" tests/faults/fail.c -ldl
export TG_THREADS=2 LC_ALL=C
passed=0
failed=0
cd "$work"

# The command line of a program. It reads from the folder given and writes into the folder out.
command_of() {
    case $1 in
    train) echo "$build/bin/train --data csv:given/rows.csv --hidden 4 --epochs 2 --no-plots --out out" ;;
    lstm) echo "$build/bin/train --data text:given/rows.csv --model lstm --width 5 --context 6 --dropout 0.2 --epochs 2 --no-plots --out out" ;;
    predict) echo "$build/bin/predict --model given/best.safetensors --data csv:given/rows.csv" ;;
    compare) echo "$build/bin/compare --data sine --rows 60 --hidden 2 --epochs 2 --seeds 2 --activations relu,silu --no-plots --jobs 1 --format csv --out out" ;;
    study) echo "$build/bin/study gelu-autoencoder --quick --only elu* --jobs 1 --no-plots --out out" ;;
    gradcheck) echo "$build/bin/gradcheck gelu_exact attention" ;;
    activations) echo "$build/bin/activations --no-plots --out out" ;;
    esac
}
# Everything that a run has written, without times and temporary files that could not be removed: of .html, .md and .json files, which contain times, only the names.
without_seconds() { # columns of times in a table
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) time[i] = $i ~ /second|time/ } { for (i = 1; i <= NF; i++) printf "%s,", time[i] ? "" : $i; print "" }' "$1"
}
result() {
    without_seconds said
    [ ! -d out ] || (cd out && find . -type f ! -name '.*' ! -name '*.tmp' | LC_ALL=C sort | while read -r file; do
        echo "$file"
        case $file in *.csv) without_seconds "$file" ;; *.html | *.md | *.json) ;; *) cat "$file" ;; esac
    done)
}
run() { # KIND:NUMBER PROGRAM
    rm -rf out
    status=0
    timeout -s KILL 60 env TG_FAULT=$1 TG_FAULT_COUNT=count LD_PRELOAD=./fail.so $(command_of $2) > said 2> errors < /dev/null || status=$?
}

mkdir given
awk 'BEGIN { print "x,y,z"; for (i = 0; i < 60; i++) printf "%.3f,%.3f,%.3f\n", sin(i), cos(3 * i), sin(i) * cos(3 * i) }' > given/rows.csv
"$build/bin/train" --data csv:given/rows.csv --hidden 4 --epochs 2 --no-plots --out made > /dev/null 2>&1
cp made/best.safetensors given/

for program in $programs; do
    for kind in memory open read stat write fsync rename unlink close fork thread; do
        rm -f count
        run $kind:0 $program
        [ $status = 0 ] || { echo "$program does not run: $(cat errors)" >&2; exit 1; }
        result | sed 's/[0-9.]* s\b//g; s/[0-9.]* ms\b//g' > expected
        calls=$(cat count)
        step=$(( (calls + most - 1) / most ))
        [ "$step" -gt 0 ] || step=1
        tried=0
        wrong=0
        number=1
        while [ $number -le "$calls" ]; do
            run $kind:$number $program
            tried=$((tried + 1))
            reason=""
            if [ $status = 137 ]; then reason="hangs"
            elif [ $status -ge 128 ]; then reason="ends by signal $((status - 128))"
            elif [ $status != 0 ] && [ ! -s errors ] && [ ! -s said ]; then reason="gives no reason"
            elif [ $status = 0 ] && result | sed 's/[0-9.]* s\b//g; s/[0-9.]* ms\b//g' | diff expected - | grep -q '^<'; then
                reason="reports success, and something is missing or changed"
            fi
            if [ -n "$reason" ]; then
                wrong=$((wrong + 1))
                echo "    $program, $kind number $number of $calls: $reason"
            fi
            number=$((number + step))
        done
        echo "$program: $kind: $calls calls, $tried tried, $wrong wrong"
        passed=$((passed + tried - wrong))
        failed=$((failed + wrong))
    done
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
