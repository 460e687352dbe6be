"""Everything that touches the world outside the graph, and the shapes of what comes from it."""

import os

# onnxruntime (speech detection, OCR) keeps a device id and reports its use to its maker unless told not to before it is
# imported. Nothing here speaks to anyone unasked.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
