"""Assets of TensorBoard's plugins: files that are written beside the events of a graph."""
from __future__ import annotations

import abc
import os
from typing import Any

from jitgraph.filesystem import gfile
from jitgraph.graph.default_graph import get_default_graph

_COLLECTION = "__tensorboard_plugin_asset__"


class PluginAsset(abc.ABC):
    """The assets of a plugin for a graph; a subclass has a ``plugin_name``, and is made without arguments."""

    plugin_name: str | None = None

    @abc.abstractmethod
    def assets(self) -> dict[str, Any]:
        """{name of a file: its contents}"""
        raise NotImplementedError


def get_plugin_asset(plugin_asset_cls: Any, graph: Any = None) -> Any:
    """The one object of a class of PluginAsset that a graph has, made where it has none.

    Raises ValueError for a class without a name, or whose name a graph knows from another class.
    """
    graph = graph or get_default_graph()
    if not plugin_asset_cls.plugin_name:
        raise ValueError(f"Class {plugin_asset_cls.__name__} has no plugin_name")
    held = graph.get_collection(_COLLECTION + plugin_asset_cls.plugin_name)
    if held:
        if type(held[0]) is not plugin_asset_cls:
            raise ValueError(f"Plugin name collision between classes {plugin_asset_cls.__name__} and {type(held[0]).__name__}")
        return held[0]
    asset = plugin_asset_cls()
    graph.add_to_collection(_COLLECTION + plugin_asset_cls.plugin_name, asset)
    graph.add_to_collection(_COLLECTION, plugin_asset_cls.plugin_name)
    return asset


def get_all_plugin_assets(graph: Any = None) -> list:
    """Those of a graph."""
    graph = graph or get_default_graph()
    return [graph.get_collection(_COLLECTION + name)[0] for name in graph.get_collection(_COLLECTION)]


def write_plugin_assets(graph: Any, logdir: str) -> None:
    """Writes those of a graph into ``LOGDIR/plugins/PLUGIN``."""
    for asset in get_all_plugin_assets(graph):
        folder = os.path.join(logdir, "plugins", asset.plugin_name)
        gfile.MakeDirs(folder)
        for name, contents in asset.assets().items():
            with gfile.GFile(os.path.join(folder, name), "w") as file:
                file.write(contents)
