"""How products are cut into items."""
import pytest

from jitgraph.compiler.emit import products
from jitgraph.compiler.emit.product_code import WIDEST, highest

SIZES = [(1, 1000, 1280), (7, 300, 70), (49, 160, 960), (49, 960, 160), (196, 64, 384), (196, 96, 576), (196, 576, 96),
         (720, 1024, 300), (784, 32, 144), (1024, 768, 3072), (1024, 30522, 768), (100352, 64, 64)]


@pytest.mark.parametrize("rows, columns, terms", SIZES)
@pytest.mark.parametrize("batch", [1, 12])
@pytest.mark.parametrize("code", ["f32", "f64"])
def test_items_fill_the_result_and_fit_in_their_arrays(rows, columns, terms, batch, code):
    tall = products._tall(rows)
    strip, blocks = products._cut(rows, columns, terms, batch, code, tall)
    tiles = -(-rows // tall)
    assert 0 < strip <= WIDEST and 0 < blocks <= tiles
    assert -(-tiles // blocks) * tall <= max(highest(code), tall)
    assert rows >= 8 or blocks == 1                 # whose kernel knows how many there are


@pytest.mark.parametrize("rows, columns, terms", [size for size in SIZES if size[1] >= 128 or size[0] >= 49])
def test_two_threads_have_equally_many_items(rows, columns, terms):
    strip, blocks = products._cut(rows, columns, terms, 1, "f32", products._tall(rows))
    items = -(-columns // strip) * blocks
    assert items % 2 == 0 or items > 32
