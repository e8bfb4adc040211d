"""Files of TensorBoard's plugins, written with a graph."""
import pytest

from jitgraph.summary import plugin_assets


class Sprites(plugin_assets.PluginAsset):
    plugin_name = "sprites"

    def assets(self):
        return {"names.tsv": "a\nb\n"}


def test_assets_are_written_with_the_graph(tf, tmp_path):
    asset = plugin_assets.get_plugin_asset(Sprites)
    assert plugin_assets.get_plugin_asset(Sprites) is asset and plugin_assets.get_all_plugin_assets() == [asset]
    with tf.summary.FileWriter(str(tmp_path), tf.get_default_graph()):
        pass
    assert (tmp_path / "plugins" / "sprites" / "names.tsv").read_text() == "a\nb\n"


def test_names_of_plugins(tf):
    plugin_assets.get_plugin_asset(Sprites)
    with pytest.raises(ValueError, match="Plugin name collision between classes Other and Sprites"):
        plugin_assets.get_plugin_asset(type("Other", (Sprites,), {}))
    with pytest.raises(ValueError, match="Class Nameless has no plugin_name"):
        plugin_assets.get_plugin_asset(type("Nameless", (Sprites,), {"plugin_name": None}))
