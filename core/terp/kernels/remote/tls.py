"""How the certificate of a gateway is checked."""

import os
import ssl
from functools import cache


@cache
def trusting() -> ssl.SSLContext:
    """What this machine trusts, and what SSL_CERT_FILE and SSL_CERT_DIR name.

    Where the machine has no store of its own, as some Pythons of macOS, the one of certifi serves.
    """
    context = ssl.create_default_context()
    if not context.get_ca_certs() and not os.environ.get("SSL_CERT_FILE"):
        import certifi  # noqa: PLC0415  (comes with httpx; few machines need it)

        context.load_verify_locations(certifi.where())
    return context
