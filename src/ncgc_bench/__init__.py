"""What the measured tables are made with: runs, their store, plans, tables, figures, and measurements of speed and scale."""
