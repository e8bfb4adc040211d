"""Modules that Python has given up are found by `jitgraph run`, as far as programs of TensorFlow 1's time use them."""
import subprocess
import sys

import pytest

from jitgraph import old_modules
from jitgraph.old_modules import LooseVersion, StrictVersion


def test_programs_import_them():
    program = ("from jitgraph import old_names; old_names.put_back()\n"
               "import distutils.version, distutils.dir_util, imghdr, imp, pipes\n"
               "from distutils.util import strtobool\n"
               "from distutils.spawn import find_executable\n"
               "assert distutils.version.LooseVersion('1.15.5') > '1.4' and strtobool('yes') and find_executable('python3')\n"
               "assert pipes.quote('a b') == repr('a b') and imghdr.what(None, b'BM') == 'bmp' and imp.reload\n")
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", program]).returncode == 0


def test_they_are_found_after_all_others(monkeypatch):
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    old_modules.put_back()
    old_modules.put_back()
    assert [type(finder).__module__ for finder in sys.meta_path].count(old_modules.__name__) == 1
    last = sys.meta_path[-1]
    assert last.find_spec("distutils.version", None).loader is last and last.find_spec("distutils.nothing", None) is None


def test_loose_versions():
    assert LooseVersion("1.10.0") > LooseVersion("1.9") and LooseVersion("1.2") == "1.2" and LooseVersion("1.2") >= "1.2"
    assert LooseVersion("1.15.0-rc1").version == [1, 15, 0, "-", "rc", 1] and str(LooseVersion("1.a")) == "1.a"
    assert sorted(["2.0", "1.15", "1.2"], key=LooseVersion) == ["1.2", "1.15", "2.0"]
    with pytest.raises(TypeError):
        sorted([LooseVersion("1.a"), LooseVersion("1.5")])


def test_strict_versions():
    assert StrictVersion("1.2a1") < StrictVersion("1.2b1") < StrictVersion("1.2") < "1.2.1" < StrictVersion("1.10")
    assert repr(StrictVersion("1.2.0")) == "StrictVersion ('1.2')" and str(StrictVersion("1.2.3b4")) == "1.2.3b4"
    assert StrictVersion("1.2b4").prerelease == ("b", 4) and StrictVersion("1.2") != StrictVersion("1.3")
    with pytest.raises(ValueError, match="invalid version number '1.15.0-rc1'"):
        StrictVersion("1.15.0-rc1")


def test_words_for_yes_and_no():
    assert [old_modules.strtobool(word) for word in ("Y", "true", "1", "no", "OFF", "0")] == [1, 1, 1, 0, 0, 0]
    with pytest.raises(ValueError, match="invalid truth value 'maybe'"):
        old_modules.strtobool("maybe")


def test_folders(tmp_path):
    made = old_modules.mkpath(str(tmp_path / "a" / "b"))
    assert made == [str(tmp_path / "a"), str(tmp_path / "a" / "b")] and old_modules.mkpath(str(tmp_path / "a")) == []
    (tmp_path / "a" / "b" / "one.txt").write_text("1")
    written = old_modules.copy_tree(str(tmp_path / "a"), str(tmp_path / "c"))
    assert written == [str(tmp_path / "c" / "b" / "one.txt")] and (tmp_path / "c" / "b" / "one.txt").read_text() == "1"
    with pytest.raises(OSError, match="not a directory"):
        old_modules.copy_tree(written[0], str(tmp_path / "d"))
    old_modules.remove_tree(str(tmp_path / "c"))
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize(("head", "kind"), [
    (b"\xff\xd8\xff\xe0\x00\x10JFIF", "jpeg"), (b"\x89PNG\r\n\x1a\n", "png"), (b"GIF89a", "gif"), (b"II*\x00", "tiff"),
    (b"BM", "bmp"), (b"RIFF\x00\x00\x00\x00WEBP", "webp"), (b"text", None),
])
def test_kinds_of_images(tmp_path, head, kind):
    (tmp_path / "image").write_bytes(head)
    assert old_modules.what(tmp_path / "image") == old_modules.what(None, head) == kind
    with open(tmp_path / "image", "rb") as opened:
        assert old_modules.what(opened) == kind and opened.tell() == 0
