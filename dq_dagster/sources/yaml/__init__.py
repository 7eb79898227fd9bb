"""Rule sets from YAML files."""
