"""The ops, one module per family.  Each op is declared once, see ``jitgraph.declare.op``."""
