// Verifies a webhook as its receiver would: SECRET, then {headers, body} as JSON.
import { Webhook } from "standardwebhooks";

const [secret, request] = process.argv.slice(2);
const { headers, body } = JSON.parse(request);
const event = new Webhook(secret).verify(body, headers);
console.log(event.specversion, event.type, event.subject, event.data.domain);
try {
  new Webhook(secret).verify(body + " ", headers);
} catch (e) {
  console.log("a changed body is refused:", e.message);
}
