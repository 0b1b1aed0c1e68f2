"""Pages about many transfers, from the mirror. Without one, only `no_mirror` is imported."""
