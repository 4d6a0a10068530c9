"""An SMTP server with STARTTLS and a sign-in, by aiosmtpd. Each accepted message is one
JSON line on stdout. It ends with its stdin."""

import json
import ssl
import sys

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword


class Handler:
    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("refused"):
            return "550 no such mailbox"
        if address.startswith("relayed"):
            return f"554 5.7.1 <{address}>: Relay access denied"
        if address.startswith("later"):
            return "451 try again later"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        print(json.dumps({"from": envelope.mail_from, "to": envelope.rcpt_tos, "tls": session.ssl is not None,
                          "data": envelope.content.decode("ascii")}), flush=True)
        return "250 OK"


def authenticate(server, session, envelope, mechanism, data):
    ok = isinstance(data, LoginPassword) and data.login == b"deed" and data.password == b"secret"
    return AuthResult(success=ok, handled=False)  # aiosmtpd is to send the reply


context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
context.load_cert_chain(sys.argv[1], sys.argv[2])
controller = Controller(Handler(), hostname="127.0.0.1", port=int(sys.argv[3]), tls_context=context, require_starttls=True,
                        auth_required=True, authenticator=authenticate, ready_timeout=300)
controller.start()
print(json.dumps({"ready": True}), flush=True)
sys.stdin.read()
controller.stop()
