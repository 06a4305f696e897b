build-clang/obj/tests/bench/peer.o: tests/bench/peer.c tests/bench/peer.h

tests/bench/peer.h:
