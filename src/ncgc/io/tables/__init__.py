"""Tables (CSV, TSV, Parquet, data frames) in, Graph out; and tables of new nodes for a fitted model."""
