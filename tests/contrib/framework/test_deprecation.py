"""What deprecated functions log, and where they are silent."""


def test_a_block_in_which_nothing_is_said(tf, monkeypatch):
    from jitgraph.app import logs
    from jitgraph.contrib.framework.deprecation import deprecated, silence

    said = []
    monkeypatch.setattr(logs, "warning", said.append)

    @deprecated("2030-01-31", "Use something newer.", warn_once=False)
    def old():
        return 1

    with silence():
        assert old() == 1 and not said
    assert old() == 1 and len(said) == 1 and "Use something newer." in said[0]
