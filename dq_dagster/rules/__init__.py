"""Rule declarations: each names the metrics it needs and judges what was measured."""
