"""The public names of feature columns and estimators; the table is of the form that ``jitgraph.facade.names`` explains."""
from __future__ import annotations

ESTIMATORS: dict[str, str] = {
    "feature_column.numeric": "feature_column.numeric_column feature_column.bucketized_column",
    "feature_column.categorical": """
        feature_column.categorical_column_with_hash_bucket feature_column.categorical_column_with_identity
        feature_column.categorical_column_with_vocabulary_file
        feature_column.categorical_column_with_vocabulary_list""",
    "feature_column.combined": "feature_column.weighted_categorical_column feature_column.crossed_column",
    "feature_column.sequences": """
        feature_column.sequence_numeric_column feature_column.sequence_categorical_column_with_hash_bucket
        feature_column.sequence_categorical_column_with_identity
        feature_column.sequence_categorical_column_with_vocabulary_file
        feature_column.sequence_categorical_column_with_vocabulary_list""",
    "feature_column.embedding": """
        feature_column.embedding_column feature_column.shared_embedding_columns feature_column.indicator_column""",
    "feature_column.dense_rows": "feature_column.input_layer",
    "feature_column.weighted_sums": "feature_column.linear_model",
    "feature_column.column": "feature_column.make_parse_example_spec",
}
