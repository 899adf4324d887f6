"""A store that was being made when its process was killed."""

import pytest

from samecam.store import DiskStore, _disk


def test_a_store_is_one_only_when_all_of_it_is_there(tmp_path, monkeypatch):
    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(_disk, "write_atomically", killed)
        with pytest.raises(KeyboardInterrupt):
            DiskStore.create(tmp_path / "store")
    assert (tmp_path / "store" / "catalogue.sqlite").exists()
    DiskStore.create(tmp_path / "store").close()
    with DiskStore.open(tmp_path / "store") as store:
        assert store.records() == []
