"""Longer notes that people and agents write: how-tos, meetings, diaries of debugging, decisions, lists."""

HOW_TOS = """\
rotate-a-certificate | Rotate the certificate of the gateway
```bash
openssl req -new -newkey rsa:4096 -nodes -keyout gateway.key -out gateway.csr -subj "/CN=gw.example.com"
kubectl -n edge create secret tls gateway --cert=gateway.crt --key=gateway.key
kubectl -n edge rollout restart deploy/gateway
```
The key never leaves the jump host. Check with `openssl s_client -connect gw.example.com:443 </dev/null | head`.
===
call-the-api | Call the orders API by hand
```bash
export API_TOKEN="$(vault kv get -field=token secret/orders)"
curl -sS -H "Authorization: Bearer $API_TOKEN" https://api.example.com/v1/orders?limit=5 | jq '.items[].id'
curl -X POST -H "Authorization: Bearer ${API_TOKEN}" -d @order.json https://api.example.com/v1/orders
```
A 409 means that the order exists; read `Location`.
===
first-day | Set up a laptop
1. Ask in #infra for a key of the VPN, then `curl https://example.com/setup.sh -o setup.sh`, read it, and run it.
2. `git clone git@git.example.com:shop/shop.git && cd shop && make setup`
3. Copy `.env.example` to `.env`; fill `DATABASE_PASSWORD=` from 1Password.
4. `make test` should say `412 passed`.
===
publish-a-package | Publish a package
Use trusted publishing; there is no token any more. Tag `v1.2.3`, push the tag, approve the environment `release`.
If it fails with 403, the tag does not match `version` in `pyproject.toml`.
===
restore-a-backup | Restore one table from the backup
```sh
pg_restore --list nightly.dump | grep 'TABLE DATA public orders' > orders.list
pg_restore --use-list=orders.list --data-only --dbname="$RESTORE_URL" nightly.dump
```
`RESTORE_URL` looks like `postgres://restore:<password>@localhost:5433/scratch`.
===
profile-a-request | Profile one request
Run `py-spy record -o out.svg --pid $(pgrep -f gunicorn | head -1) --duration 30`, meanwhile `hey -z 25s URL`.
Look for wide frames below `serialize`. Ignore idle threads.
===
write-a-migration | Write a migration that can be rolled back
Two releases: first add the column (nullable), write both; then backfill in batches of 5,000; then read the new one;
only then drop. Never rename in one step. Lock timeout: `SET lock_timeout = '2s';`
===
debug-a-pod | Debug a pod that restarts
`kubectl describe pod`, then `kubectl logs --previous`. Exit code 137 is memory, 143 is a normal stop.
```yaml
resources:
  limits: {memory: 512Mi}
```
===
bisect | Find the commit that broke it
```bash
git bisect start HEAD v4.1.0
git bisect run sh -c 'make -s build && pytest -q tests/unit/test_totals.py'
```
The last one took eleven steps and ended at 5f3c0d9e1b7a44d28c6f0a9be31d75c2480e6f13.
===
ask-the-model | Ask the model from a script
```python
import os
import anthropic

client = anthropic.Anthropic(api_key=os.environ["ANTHROPIC_API_KEY"])
answer = client.messages.create(
    model="claude-sonnet",
    max_tokens=1024,
    system="You are a helpful assistant for the warehouse. Answer in one paragraph.",
    messages=[{"role": "user", "content": question}],
)
```
Retry on 529 only. Log `answer.usage`, never the question.
===
sign-a-webhook | Check the signature of a webhook
```python
expected = hmac.new(settings.webhook_secret.encode(), body, hashlib.sha256).hexdigest()
if not hmac.compare_digest(expected, request.headers["X-Signature"]):
    raise Forbidden
```
The secret comes from `settings`; tests use `webhook_secret="test"`.
===
login-form | Where the login form is tested
```ts
await page.getByLabel("Password").fill(process.env.E2E_PASSWORD ?? "");
await expect(page.getByText("Wrong password")).toBeVisible();
const token = await getToken();
```
Selectors by role, never by class. The account is made fresh in each run.
===
connect-to-redis | Connect to Redis on staging
`redis-cli -u "redis://:$REDIS_PASSWORD@redis.staging.example.com:6379/0"`; port-forward first:
`kubectl -n data port-forward svc/redis 6379`. Password: see Vault, `secret/data/redis`. Don't use KEYS, use SCAN.
===
terraform | Plan and apply
Never apply from a laptop. `terraform plan -out plan.bin` in the pipeline, a second person approves.
```hcl
variable "db_password" { sensitive = true }
resource "aws_db_instance" "main" { password = var.db_password }
```
===
docker-build | Build the image without leaking
```dockerfile
RUN --mount=type=secret,id=npm_token NPM_TOKEN="$(cat /run/secrets/npm_token)" npm ci
```
Do not use `ARG NPM_TOKEN`: it stays in the layers. Check with `docker history --no-trunc`.
===
email-report | Send the weekly report
`python -m reports.weekly --to team@example.com --dry-run` shows it; without `--dry-run` it is sent on Mondays at 7:00.
Attach the CSV only if it is under 5 MB, otherwise upload it to the bucket and send the link.
===
parse-xml | Parse the supplier's XML
The root is `<catalogue>`, items have `<item sku="…">`. Namespaces are missing in files before 2024.
```xml
<item sku="4006381333931"><name>Marker</name><price currency="EUR">1.20</price></item>
```
===
system-clock | When the clock of a container jumps
`<system>` in the log means the host, `<user>` the container. Compare `chronyc tracking` on both.
Run `timedatectl`; if it says `no`, restart chrony. Then run the two tests in `tests/time` again.
===
git-hooks | Skip the hooks
`git commit --no-verify` is allowed for work in progress on your own branch only. Then always run `make lint` by hand.
===
release-notes | Write release notes
One line for each change that a user can see, in the past tense, newest first. No ticket numbers, no names.
When asked about dates, point to the roadmap and answer with the quarter, not the day.
===
vpn | Connect to the VPN
WireGuard; the configuration is made for you in the portal:
```ini
[Interface]
PrivateKey = <your private key>
Address = 10.20.0.7/32
[Peer]
PublicKey = <server key>
AllowedIPs = 10.20.0.0/16
```
===
frontend-env | Environment of the frontend
```env
VITE_API_URL=https://api.example.com
VITE_SENTRY_DSN=
VITE_MAPS_KEY=changeme
SESSION_SECRET=${SESSION_SECRET:?set it}
```
Everything that begins with `VITE_` ends up in the browser: nothing secret there.
===
openapi | Update the client from OpenAPI
`make client` fetches https://api.example.com/openapi.json and writes `gen/client/`. Commit both. If fields vanish, ask.
===
load-test | Load test before the season
`k6 run --vus 400 --duration 10m load/checkout.js`. Tell #ops before. p95 under 600 ms, errors under 0.1 %.
Last result: 2,310 requests a second, p95 412 ms, no errors.
===
ssh-config | Jump host
```
Host jump
    HostName jump.example.com
    User %r
    IdentityFile ~/.ssh/id_ed25519
    ProxyCommand none
```
Fingerprint: SHA256:uNiVztksCsDhcc0u9e8BrrJXVGAbT0ZLJfq3yXSS4OA (compare it).
===
clean-caches | Clean up a full disk on a runner
`docker system prune -af --volumes` frees about 40 GB. Then `rm -rf /var/cache/build/*`. Never delete `/var/lib/state`.
===
invoice-pdf | Why the invoice has a wrong font
The PDF embeds fonts as base64; the subset lacks `ł`. Rebuild with `--full-font`, +180 KB a file.
===
password-reset | How a password is reset
The user asks, we send a link that holds for 30 minutes. Password: at least 12 characters, checked against known leaks.
`password = request.form["password"]`, then `password_hash = hasher.hash(password)`. Never log either.
"""

DECISIONS = """\
Use Postgres for the job queue|One system less to run; 400 jobs a second are far from its limits.|a broker, cron
Keep the monolith for another year|Six people cannot run nine services.|two services, nine services
Money is an integer of minor units|Floats lost a cent in one of 90,000 invoices.|Decimal, float
Server-side rendering for the shop|First paint 2.9 s to 1.1 s on the slow phone.|static export, client only
Feature flags in a file|A flag is a deployment of a minute; nobody needs seconds.|a hosted service, the database
Own the search instead of buying it|Seven languages and our own synonyms.|two vendors
Tokens of sessions live for 15 minutes|A stolen one is worth little; refreshing is bound to a device.|8 hours, no expiry
Logs are JSON lines|Fields can be searched; people read them through `jq`.|plain text, binary
One repository|Changes across three repositories took a week.|submodules, three repositories
UUIDv7 for identifiers|They sort by time and do not tell how many orders there are.|serial numbers, UUIDv4
Static types in all new Python|Forty percent of bugs of the last half-year were `None`.|gradual, none
Write contracts between teams as tests|Documents went stale within a month.|documents, shared staging
Passwords are hashed with Argon2id|19 MB, two passes; 90 ms on the smallest machine.|bcrypt, scrypt
No ORM in the ingest path|Four times slower in the batch insert.|an ORM everywhere
Secrets come from Vault at start-up|Files were copied around, and once into an image.|environment files, sealed secrets
Deploys in the morning only|Whoever deploys is awake when it breaks.|any time
Keep events for 35 days|Finance needs 31, legal wants as few as possible.|90 days, for ever
Drop Internet Explorer|0.04 % of sessions, a third of the style sheets.|a second bundle
Use CRDTs for notes|Offline edits merged wrongly twice a week.|locks, last writer wins
Names of branches carry the ticket|The board moves by itself.|free names
"""

SAID = """\
Ada shows the new import: 47 minutes down to 6. Question from Bram: what if the file comes twice?
Greta: the scanner in hall 2 drops every fortieth code; supplier comes on Thursday.
We move the release from the 14th to the 18th because of the holiday in two countries.
Support reports 31 tickets on the wrong VAT for Norway; workaround is in the handbook.
Budget: 12,400 of 15,000 EUR are spent; the rest is for the load test.
Yusuf proposes to drop the nightly job; nobody objects.
Demo of the new search. Users found the filter only after a hint; Mei changes the label.
The contract with the SMS vendor ends on 30 June, Rosa writes to them.
Retrospective: too many interruptions on Tuesdays. Try a quiet morning for a month.
Hugo is away from 3 to 21 August, Wren covers.
The audit wants evidence for access reviews, quarterly, with names and dates.
Two applicants for the frontend position, interviews next week, panel is Ines and Sven.
p95 of checkout is 412 ms, was 630 ms in May.
Decision: the old API stays until the end of 2027, with a header `Sunset`.
Risk: the new scanner has no driver for our kiosk. Plan B is the old one, 14 pieces in the cellar.
Password policy: at least 12 characters, no forced change. Announced next Monday.
Priya asks for a second reviewer for everything in `ledger/`. Agreed.
The printer on floor 3 is broken again; ticket 88213 with facilities.
Marketing wants a banner by Friday. We have a flag for it, text comes from Chiara.
The pipeline costs 38 minutes, 20 of them in the end-to-end tests. Oskar looks at sharding.
Question: who owns the gift cards? Nobody since the split. Uma takes them until summer.
We do not tell the partner the date before legal has signed.
Postmortem of the queue incident is on Wednesday at 11:00, blameless, bring graphs.
Translation to Finnish is 92 % done, the rest are legal texts.
New laptop images on Monday. Back up your keys; the script does not.
Access tokens of partners expire in March, 14 of them have not answered.
Ignore the alert "disk 80 %" on db-3 until Friday: the resize is planned.
The assistant in the help centre answered 61 % of questions without a person, 58 % the month before.
System prompt of the help assistant gets a sentence on returns; the evaluation has to pass first.
Kaia tried the new queue on a copy: 2,300 jobs a second, then the disk was the limit.
The board game evening is on the 27th, Viktor brings two games. 🎲
Next time: roadmap of the second half, please read the draft before.
"""

TRIED = """\
Reproduced with `for i in $(seq 300); do pytest -q tests/transfer || break; done`: fails at run 212.
Not the cache: with it switched off the same picture.
Thread dump: 14 workers wait for `_import_lock`. That should not be.
Bisected over 1,204 commits in eleven steps.
Turned on `log_min_duration_statement = 200`: one query with 31 minutes.
The same request with `curl -v` takes 38 ms, from the browser 2.1 s: preflight.
`strace -f -e trace=file` shows 4,000 opens of the same file.
Rolled back to the image of last week: the same. So it is data or configuration.
Asked Farid: the proxy got a new time-out of 30 s on Monday.
Wrong turn: suspected the driver for two hours, it was the clock.
Heap grows by 4 MB a minute. `objgraph` says: 180,000 instances of `TextSpan`.
The certificate was renewed, the process had not reloaded it. Exit code 0, of course.
Set `PYTHONHASHSEED=0`: deterministic now, fails always. Finally.
Only with locale `tr_TR`. See the note on the dotless i.
Core dump at 0x00007f3a9c1d2e40, `malloc_consolidate`. Built with ASAN: heap-use-after-free in `decode_row`.
Retry storm: three services with three retries each make 27 calls.
Verified the fix on staging with 10,000 requests: no failure.
Fixed by closing the cursor in `finally`. Test added that fails without it.
Fixed by taking the lock in the order of ids. Deadlocks from 14 a day to none.
Fixed with a larger buffer for now; a proper fix needs the new protocol.
Left open: why did the alert not fire? Threshold was 5 % of *all* requests.
Ran `EXPLAIN ANALYZE`: sequential scan over 41 million rows, the index is on `lower(email)`.
The header was cut at 8 KB: cookie of the experiment.
Kernel log says `TCP: request_sock_TCP: Possible SYN flooding on port 8443`.
"""

SHELVES = (
    "A Field Guide to Slow Queries", "Boats of the North Sea", "Bread for Beginners", "Colour in Charts",
    "Distributed Ledgers for Bakers", "Everyday Statistics", "Grammars and Parsers", "How Harbours Work",
    "Letters from Turku", "Maps and Their Errors", "On Being Reviewed", "Practical Queueing", "Quiet Incidents",
    "Rust on Rails", "Small Teams", "The Cello Suites at Home", "The Long Migration", "Type and Space",
    "Walking in the Harz", "Working Clocks",
)  # fmt: skip
