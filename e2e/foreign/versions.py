"""Which releases of the client libraries are installed."""
import json
import sys
from importlib.metadata import version

print(json.dumps({name: version(name) for name in json.loads(sys.argv[1])["names"]}))
