#!/bin/sh
# Checks the dependencies between the rooms of the house. docs/design.md lists them, in a block that begins with "room  stands on  for": a
# room's files may include, and in the library call, those of the rooms that it stands on, and of all that those stand on. Inside a room
# only circles of includes are forbidden. Calls are checked in autograd and optim: the tables of layers and models name those of all
# rooms. The script also fails on a folder that includes another folder's private headers, and on a file of the library, except
# autograd/base/platform.c, that knows the operating system.
#   tests/arrows.sh [FOLDER]     from the top of the tree; FOLDER holds what make has built, for the calls
set -eu
calls=$(mktemp)
trap 'rm "$calls"' EXIT

# Lists the functions and constants that each object uses of another: "autograd/reverse/grad.c -> autograd/tape/tape.c tg_tape_scratch".
[ $# = 0 ] || (cd "$1/obj" && find autograd optim -name '*.o' ! -path 'autograd/kernels/*-*' -exec nm -A {} + 2>/dev/null || true) | awk '
    { object = $1; sub(/\.o:.*/, ".c", object) }
    $(NF - 1) ~ /^[BDRT]$/ { home[$NF] = object }
    $(NF - 1) == "U" { uses[object " " $NF] }
    END {
        for (pair in uses) {
            split(pair, word, " ")
            if (word[2] in home)
                print word[1] " -> " home[word[2]] " " word[2]
        }
    }' > "$calls"

find autograd nn optim plots examples -name '*.[ch]' -o -name '*.inc' -o -name '*.def' |
    xargs awk '
    BEGIN {
        knows = "_WIN32|__APPLE__|__linux__|__GLIBC__|__unix__|(^|[^a-z_])(aligned_alloc|open_memstream|fdopen|mkdir|fsync|fseeko|ftello|getpid|" \
                 "fork|dlopen|uselocale|setlocale|clock_gettime|sysconf)\\(|" \
                 "#include <(unistd|fcntl|dlfcn|dirent|sys/[a-z]*|xlocale|locale|signal|poll|spawn|io|direct|windows)[.]h>"
    }
    function problem(text) { print "arrows: " text > "/dev/stderr"; failed = 1 }
    function folder_of(file) { sub(/\/[^\/]*$/, "", file); return file }

    # The room of a file: its folder; for a public header the folder of its source, which may lie below, or the folder with its name.
    function room_of(file,    folder, name) {
        folder = folder_of(file)
        if (folder == "autograd/ops/samples")
            return "autograd/ops"
        if (file !~ /\.h$/)
            return folder
        name = substr(file, length(folder) + 2)
        sub(/\.h$/, "", name)
        if (folder "/" name ".c" in files)
            return folder
        if ((folder, name) in source)
            return source[folder, name]
        return folder "/" name in stands ? folder "/" name : folder
    }

    # A header and its source in one folder are one node of the search for circles. An internal header is not one of its own.
    function unit(file) {
        sub(/(_internal)?\.[ch]$/, "", file)
        return file
    }

    # Adds to `below` the rooms that a room stands on, and those that these stand on.
    function descend(room, from,    rooms, i, all) {
        all = split(stands[room], rooms, " ")
        for (i = 1; i <= all; i++)
            if (!((from, rooms[i]) in below)) {
                below[from, rooms[i]] = 1
                descend(rooms[i], from)
            }
    }
    function may_use(from, to) { return from == to || (from, to) in below }

    FILENAME == ARGV[1] {
        if (!NF)
            in_table = 0
        if (in_table && /^```/)
            in_table = 0
        if (in_table) {
            split($0, column, /   */)
            stands[$1] = column[2] == "-" ? "" : column[2]
            count = split(stands[$1], rooms, " ")
            for (i = 1; i <= count; i++)
                if (!(rooms[i] in stands) || rooms[i] == $1)
                    problem($1 ": stands on " rooms[i] ", which docs/design.md does not list above it")
        }
        if (/^room +stands on +for/)
            in_table = 1
        next
    }
    FILENAME == ARGV[2] {
        calls[++called] = $0
        next
    }
    FNR == 1 {
        files[FILENAME] = 1
        if (FILENAME ~ /\.c$/) {
            folder = folder_of(FILENAME)
            name = substr(FILENAME, length(folder) + 2)
            sub(/\.c$/, "", name)
            source[folder_of(folder), name] = folder
        }
    }
    /^TG_API_BEGIN/ || FILENAME ~ /\.def$/ || FILENAME ~ /^autograd\/base\/(names|numbers|platform)\.h$/ { is_public[FILENAME] = 1 }
    FILENAME ~ /^(autograd|nn|optim)\// && FILENAME != "autograd/base/platform.c" && $0 ~ knows {
        problem(FILENAME ": knows the operating system (" $0 "), as only autograd/base/platform.c may")
    }
    /^#include [<"]/ {
        split($2, quoted, /[<">]/)
        if ($2 ~ /^</ && quoted[2] !~ /^(tapegrad|cblas)\.h$/)
            next
        includes[++included] = FILENAME " -> " quoted[2]
    }

    END {
        for (room in stands)
            descend(room, room)
        for (file in files) {
            filled[room_of(file)] = 1
            if (!(room_of(file) in stands) && !(folder_of(file) == "autograd" && file in is_public))
                problem(file ": is in no room that docs/design.md lists")
        }
        for (room in stands)
            if (!(room in filled))
                problem(room ": docs/design.md lists this room, and it is empty")

        for (i = 1; i <= called; i++) {
            split(calls[i], word, " ")
            if (word[1] in files && word[3] in files && !may_use(room_of(word[1]), room_of(word[3])))
                problem(word[1] ": calls " word[4] " of " word[3] ", on which its room does not stand")
        }

        for (i = 1; i <= included; i++) {
            split(includes[i], ends, " -> ")
            from = ends[1]
            to = ends[2]
            if (to == "tapegrad.h" || to == "cblas.h") {
                if (to == "cblas.h" || from ~ /^(autograd|nn|optim)\//)
                    problem(from ": includes <" to ">")
                continue
            }
            if (!(to in files)) {
                problem(from ": includes \"" to "\", which is no file; names begin at the top of the tree")
                continue
            }
            if (from !~ /^autograd\// && to ~ /^(autograd|nn|optim)\// && !(to in is_public) && room_of(from) != room_of(to) &&
                !(from ~ /^nn\// && to ~ /^nn\//))
                problem(from ": includes " to ", which is not public")
            if (to !~ /\.def$/ && !may_use(room_of(from), room_of(to)))
                problem(from ": includes " to ", on whose room its own does not stand")
            if (unit(from) != unit(to) && from !~ /\/internal\.h$/)
                arrow[unit(from), unit(to)] = 1
        }

        # An arrow whose target has no outgoing arrow, or whose source has no incoming one, is in no circle. Remove such arrows
        # until none is left.
        do {
            split("", begins)
            split("", comes_back)
            for (pair in arrow) {
                split(pair, ends, SUBSEP)
                begins[ends[1]] = comes_back[ends[2]] = 1
            }
            gone = 0
            for (pair in arrow) {
                split(pair, ends, SUBSEP)
                if (!(ends[2] in begins) || !(ends[1] in comes_back)) {
                    delete arrow[pair]
                    gone++
                }
            }
        } while (gone)
        for (pair in arrow) {
            split(pair, ends, SUBSEP)
            problem("circle: " ends[1] " includes " ends[2])
        }
        exit failed
    }' docs/design.md "$calls"
