"""Metrics of several processes, which share them in files."""

from contextlib import closing
from pathlib import Path

import pytest
from prometheus_client.mmap_dict import MmapedDict, mmap_key

from intents_ui.ops import metrics


def test_a_scrape_leaves_out_the_files_of_processes_that_start_or_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(metrics.FOLDER, str(tmp_path))
    monkeypatch.setattr(metrics, "IS_SHARED", True)
    for pid in (1, 2):
        key = mmap_key("intents_ui_rejected", "intents_ui_rejected_total", ["stage"], ["view"], "Rejected.")
        with closing(MmapedDict(str(tmp_path / f"counter_{pid}.db"))) as file:
            file.write_value(key, 3.0, 0.0)
    (tmp_path / "counter_3.db").touch()  # created, and not yet as large as it will be
    (tmp_path / "gauge_livesum_4.db").symlink_to(tmp_path / "removed after it was listed")
    assert 'intents_ui_rejected_total{stage="view"} 6.0' in metrics.text().decode().splitlines()
