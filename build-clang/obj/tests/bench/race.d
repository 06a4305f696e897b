build-clang/obj/tests/bench/race.o: tests/bench/race.c tests/bench/race.h

tests/bench/race.h:
