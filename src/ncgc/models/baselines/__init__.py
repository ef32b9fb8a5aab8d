"""The methods NCGC is compared with: one file each, found by the name of the file."""
