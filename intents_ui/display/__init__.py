"""From wire values to words: pure functions, no I/O, no request, no settings; `now` is an argument."""
