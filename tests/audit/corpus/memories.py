"""Memories as an agent keeps them: what it was told, whom it works for, what goes on, and where to look.

Each is written by hand, and is there once. The first line is its name and its description.
"""

FEEDBACK = """\
use-ruff | Use ruff for linting and formatting, never black or flake8
Always use `ruff check --fix` and `ruff format`. Never run black or flake8 in this repository.

**Why:** Two formatters fought over the same lines in the spring and every diff was noise.

**How to apply:** Before each commit, on the files that were changed only.
===
no-mocked-database | Integration tests must hit a real database
Don't mock the database in integration tests. Use the container that `make db-up` starts.

**Why:** Last quarter the mocked tests passed while the migration failed in production.
===
never-commit-to-main | Work on branches, open a draft pull request
Never commit to main. Always open a branch called `<ticket>-<two-words>` and push it as a draft.

Ask before force-pushing, even to your own branch, once somebody has reviewed it.
===
tests-before-push | Run the quick tests before pushing
Run tests with `pytest -q -x tests/unit` before pushing. The slow ones run in CI; don't wait for them here.
===
short-answers | Wants short answers without a summary at the end
Keep answers short. Do not repeat at the end what the diff already shows. No emoji, no exclamation marks.

If something failed, say so in the first sentence.
===
one-bundled-pr | For refactors in this area one bundled pull request is preferred
When a refactor touches the handlers, one bundled pull request is fine; splitting it would have been churn.

**Why:** Confirmed after I chose this in the sessions rewrite: a judgement call that was accepted, not a correction.
===
ask-before-installing | Ask before adding a dependency
Always ask before adding a dependency. If the standard library can do it in under fifty lines, write the fifty lines.
===
no-todo-comments | Leave no TODO comments behind
Do not leave `TODO` or `FIXME` in code. Open an issue and put its number into the pull request instead.
===
explain-sql | Show the plan of a query before changing an index
Before you propose an index, run `EXPLAIN (ANALYZE, BUFFERS)` and paste the plan. Ignore differences under 5 %.
===
ignore-generated | Ignore everything below gen/ when reviewing
Ignore the files in `gen/` and `vendor/`: they are written by `make proto`. Disregard lint warnings there as well.
===
error-messages | How error messages are worded here
Error messages say what happened, why, and what to do. Never start with "Error:" and never blame the user.

- good: `The upload stopped because the disk is full. Free 200 MB and try again.`
- bad: `Oops, something went wrong!`
===
dont-touch-legacy | Leave the legacy importer alone
You must not change anything in `importer/legacy/`. It goes away in March and the partner tests against exact output.
===
plan-first | Write the plan down before large changes
For anything over ~200 lines, write the plan as a list first and wait for a "go". Small fixes: just do them.
===
prefers-rg | Use rg and fd, not grep and find
Use `rg` and `fd`. When searching, exclude `node_modules`, `dist` and `*.min.js`.
===
british-spelling | British spelling in the user interface, American in code
Write "colour" and "organisation" in texts that users see; identifiers stay American (`color`, `organization`).
===
no-any | No Any in new types
Never use `Any` or `# type: ignore` without a comment that says why. Use a protocol, or `object` and a check.
===
small-functions | Prefers plain functions over classes
Prefer plain functions and frozen dataclasses. A class only for something that lives (a connection, a cache).
===
commit-style | How commit messages are written
Commit messages are a sentence in the imperative, 72 characters, no prefix such as `feat:`. The body says why.
===
feature-flags | Every user-facing change goes behind a flag
Put each user-facing change behind a flag in `flags.toml`, default off. Remove the flag two weeks after full rollout.
===
no-screenshots | Do not paste screenshots into pull requests
Do not add screenshots to the description; link to the preview deployment. Delete previews after merging.
===
time-zones | Everything is stored in UTC
Store UTC, show local time. Never call `datetime.now()` without a zone; the linter rejects it anyway (DTZ005).
===
retry-budget | Never retry without a budget
When calling another service, always set a timeout and at most two retries with jitter. Do not retry on 4xx.
===
customer-names | Do not write names of customers into code
Do not tell customers about internal code names, and do not write names of customers into code, tests or branches.
Use "Acme" and "Globex".
===
review-comments | How to answer review comments
Answer every review comment with either a commit or a reason. Do not resolve threads that somebody else opened.
===
run-migrations | Never run migrations from the laptop
Never run `alembic upgrade` against staging or production from here. Open the runbook and let the pipeline do it.
===
no-sleep-in-tests | No sleep in tests
Tests wait for a condition with a bound and never sleep. Use `eventually(lambda: ..., within=2)` from `tests/wait.py`.
===
log-levels | Which level a message is logged at
`error` wakes somebody up. `warning` is read next morning. Everything else is `info` with structured fields.
Never log request bodies, tokens or e-mail addresses.
===
dry-run-first | Show a dry run before anything that deletes
Whenever a command deletes or overwrites, run it with `--dry-run` first, show the output, and wait for a yes.
===
imports-at-top | Imports stay at the top of the module
Keep imports at the top. A deferred import needs a comment that says what it saves, in milliseconds.
===
naming-tests | A test's name is a sentence
Name tests as sentences: `test_an_expired_cart_is_not_charged`. If you cannot say it as a sentence, split the test.
===
no-apologies | Skip apologies and filler
Skip apologies, "great question" and "as an AI". If you were wrong, state what was wrong and go on.
===
prefer-tables | Compare options in a table
When there are three or more options, use a table with cost, risk and reversibility; then recommend one.
===
check-the-clock | Stop at 18:00 Lisbon time
From 18:00 in Lisbon on, finish the step you are in, write down where you are, and stop. Do not begin a new one.
===
env-files | Never read or print .env files
Never open, print or copy `.env`, `*.pem` or anything in `secrets/`. If you need a value, ask for it by name.
===
keep-old-api | The v1 API must keep working
You must keep `/v1` working until 2027. New fields are optional; never rename or remove one; document in `API.md`.
===
small-diffs | Do not reformat lines that you did not change
Touch only lines that the task needs. Ignore style in the rest of the file, however tempting.
===
from-memory | Verify before relying on a memory
If a memory names a file, check that it still exists before you recommend it. Forget it if it is wrong.
===
no-background | No background processes left over
Stop every server that you started. List them with `ss -ltnp` at the end; port 5173 is always the developer's own.
===
benchmark-claims | No claims about speed without numbers
Don't say "faster" without a number, the command that measured it, and how often it was run.
===
ask-about-ambiguity | Ask one question instead of guessing
If two readings of a request lead to different code, ask one short question. Otherwise decide and say what you chose.
"""

USERS = """\
role | Data engineer, ten years of Go, new to React
The user is a data engineer with ten years of Go and little React. Explain frontend matters by analogy to the backend.
===
time-zone | Works from Lisbon, mornings only on Fridays
Lives in Lisbon (UTC+0/+1). Mornings only on Fridays. Planning is on Monday at 10:00.
===
editor | Uses Helix and tmux over SSH
Uses Helix in tmux over SSH, `rg`, `just` and `jj` on top of git. No mouse. 80 columns on the left screen.
===
languages | Reads English and German, writes Portuguese at home
English in code, German with the customer in Graz, Portuguese at home. Translate quotes, keep the original below.
===
accessibility | Uses a screen reader
Uses a screen reader: no tables wider than three columns, no ASCII art, describe every picture in a sentence.
===
learning-style | Learns by examples
Show a small running example first, the rule after it. Links to the source of the library are welcome.
===
security-background | Ran the incident team
Ran an incident team for four years. Wants to know the failure first, then the fix, then what else could fail likewise.
===
family | Two children, school holidays in August
Two children; away from 3 to 21 August. Do not plan releases into that time. 🏖️
===
diet | Vegetarian, allergic to hazelnuts
Vegetarian, no hazelnuts. For team lunches: the place at the canal, table for eight, Thursday.
===
keyboard | Types on a split keyboard with a Neo layout
Uses Neo 2 on a split keyboard: shortcuts with `[` `]` and `\\` are hard to reach. Prefer letters and function keys.
===
statistics | Knows statistics well
Has a degree in statistics: confidence intervals instead of p-values, and say how many runs there were.
===
manager | Leads a team of six, reviews on Tuesdays
Leads six people. Reviews happen on Tuesdays and Thursdays after lunch. Keep pull requests under 400 lines.
===
hobbies | Plays the cello, rows on Sundays
Plays the cello in the community orchestra (rehearsal on Wednesday at 19:30), rows on Sundays, bakes bread.
===
machine | A laptop with 16 GB, Fedora
Fedora 41 on a laptop with 16 GB. Builds with more than four jobs swap; use `-j3`.
===
writing | Likes plain English
Likes plain, short English. Dislikes "leverage", "utilize" and "going forward". Reads on a small screen.
===
colour-blind | Red and green look alike to her
Red and green look alike: never use colour alone in charts, use shapes or labels as well.
===
first-name | Is called Zoë, not Zoe
Write her name with the diaeresis: Zoë. Pronouns she/her. Signs reviews with `zj`.
===
junior | First job, eager to learn
First job after university. Wants the reason behind each review comment and likes to be asked what he expects first.
"""

PROJECTS = """\
release-freeze | Merge freeze until 12 March because of the mobile release
Merge freeze from 5 to 12 March: the mobile team cuts a branch. Only fixes of severity 1.

**Why:** the last release was cut from a broken main.
**How to apply:** flag any non-critical merge that is planned after that date.
===
auth-rewrite | The session middleware is rewritten for compliance
The old middleware kept session tokens in a way that legal did not accept. Compliance before convenience here:
prefer the stricter variant wherever the ticket leaves it open. Owner is Farid; target is the end of May.
===
queue-choice | Why we left RabbitMQ for Postgres queues
One table `jobs` with `FOR UPDATE SKIP LOCKED`. 400 jobs a second at peak, the limit we measured is 2,300.
The broker cost two incidents a quarter and nobody wanted to own it.
===
price-rounding | Prices are rounded half to even, per line
Rounded half to even on each line, never on the total. Finance signed that off on 2025-09-18; see the sheet in the wiki.
===
slow-import | The nightly import takes 47 minutes, 31 of them in one query
31 of 47 minutes are the `NOT IN` over `shipments`. An anti-join brings that to 40 seconds on a copy of last week.
===
mobile-min-version | The oldest app that we support is 5.14
Users below 5.14 are 0.8 % and falling. From April on the API may drop `legacy_totals`.
===
partner-window | The partner's test system is only up on weekdays, 8 to 17
Their sandbox sleeps at night: contract tests fail from 17:00 to 8:00 CET. Not our bug, do not chase it.
===
search-index | Reindexing takes nine hours, do it on a copy
Build the new index beside the old one and switch the alias. Rolling back is switching it again.
===
currency | We only sell in EUR, SEK and CHF
Three currencies; JPY comes in the autumn. Amounts are integers of minor units, except in the old CSV export.
===
kiosk | The kiosk runs Chromium 96 and cannot be updated
No `structuredClone`, no `:has()`, no container queries on the kiosk. Test with the frozen image `kiosk:96`.
===
data-retention | Raw events are deleted after 35 days
Raw events: 35 days. Aggregates: 3 years. A request for deletion must be done within 30 days, also in backups.
===
team-split | Since September there are two teams
Payments (Ada, Bram, Uma) and Logistics (Greta, Yusuf, Tomáš). Shared code needs one review from each.
===
on-call | On-call changes on Wednesdays at noon
Rota in the wiki. Page only for `severity: 1`. You are on call with a buddy in the first two rotations.
===
csv-dialect | The CSV from the warehouse has semicolons and a comma as the decimal sign
Semicolons, decimal comma, Latin-1, CRLF, a total line at the end. `sniff()` guesses wrong; the dialect is hard-coded.
===
flaky-test | test_transfer_is_idempotent fails about once in 300 runs
Fails in about 1 of 300 runs since the driver update. Suspect: the clock of the container jumps. Quarantined, not fixed.
===
design-tokens | Design tokens come from Figma once a week
`tokens.json` is exported on Mondays. A secret to nobody, but often missed: token names must not change.
===
budget-2026 | The cloud budget was cut by 12 %
12 % less for 2026. The biggest single item is log storage. Idea: sample `info` at 10 %, keep everything above.
===
gdpr-export | Export of personal data must hold attachments as well
The export has to hold attachments. Legal wants it by 1 October; a ZIP of at most 2 GB, then several parts.
===
monorepo | The three repositories become one
History is kept with `git filter-repo`. Paths: `apps/`, `libs/`, `ops/`. Old tags get a prefix: `shop/v4.2.0`.
===
canary | Canaries get 5 % for an hour
5 % for one hour, then 25 %, then all. The gate is the rate of errors and p95, not the feeling of whoever deploys.
===
holiday-load | Load of the week before Christmas
Six times the usual from 12 to 22 December. Autoscaling is too slow for 18:00: raise the floor by hand to 40.
===
a11y-audit | The accessibility audit found 23 issues
Eleven are closed. The rest is contrast in charts and focus order in the date picker. Next audit: 14 May.
===
api-limits | Limits of the public API
60 requests a minute for each key, bursts of 20. Over it 429 with `Retry-After`. Partners have 600.
===
invoice-numbers | Invoice numbers have no gaps
Invoice numbers run without gaps per year and country (`SE-2026-000417`). They are taken in the same transaction.
===
thumbnails | Thumbnails moved from Lambda to a worker
The worker makes 90 pictures a second; the old function made 14 and cost three times as much.
===
locale-bug | Turkish dotless i broke the login
`"TITLE".lower()` in the Turkish locale made `tıtle`. Use `casefold()` for identifiers. Users are asked to log in again.
===
experiment-42 | The shorter checkout won
Two steps instead of four: +3.1 % (95 % interval 1.2 to 5.0) over 212,000 sessions. Rolled out on 3 November.
===
vendor-change | The SMS vendor changes in June
The old contract ends on 30 June. Both run side by side in May. Sender ids must be registered in IT and TR by then.
===
schema-freeze | No changes to orders_v2 until the audit is over
`orders_v2` is frozen until the auditors leave (28 February). Add columns to `orders_extra` meanwhile.
===
ios-crash | The crash on iOS 17.4 is in the font cache
Crash on 17.4 only, when the system font is large. Fixed by loading fonts lazily; 0.02 % of sessions before that.
"""

REFERENCES = """\
dashboards | Which dashboard to look at first
The board "Checkout: money path" is what on-call watches. Second: "Queues". Ignore "Old overview", nobody updates it.
===
bug-tracker | Pipeline bugs are tracked in the project INGEST
Bugs of the pipeline go to INGEST, requests of customers to CARE, everything else to CORE. Epics need an owner.
===
runbooks | Where the runbooks are
Runbooks are in `ops/runbooks/`, one per alert, named like the alert. The index is `ops/runbooks/README.md`.
===
staging | How to reach staging
Staging is https://staging.example.com, through the VPN. Ask in #infra for an account; it lives for 30 days.
===
passwords | Where credentials are kept
Passwords are in 1Password, vault "Platform". API keys come from Vault at start-up (`vault kv get`), never from files.
The password of the demo account changes weekly; ask the bot in #demo.
===
style-guide | The style guide of the interface
https://design.example.org/guide is the truth; the PDF in the drive is from 2023.
===
licences | Which licences are allowed
MIT, BSD, Apache 2.0, MPL 2.0. Ask before LGPL. GPL and AGPL never in what is shipped.
===
feature-requests | Requests of customers are voted on
https://feedback.example.com/board/42?sort=votes&state=open — sorted by votes; the top ten are looked at monthly.
===
data-catalog | The catalogue of tables
Owner, freshness and meaning of every table: https://catalog.example.net/tables. Ask Mei for access.
===
phone-list | Whom to call
Facilities: +44 20 7946 0123. Support of the card terminals: +1 202-555-0147, contract number 4471-20983.
===
model-prices | Prices of the models that we use
Input and output per million tokens, see the table in `docs/costs.md`. The token budget of a session is 200,000.
===
architecture | The map of the services
`docs/map.svg` is drawn by `make map` from the manifests. Arrows are calls, dotted ones are events.
===
old-wiki | The old wiki is read-only
The old wiki is read-only since May. Pages were moved to `handbook/`; the search of the old one still works.
===
compliance | Where the evidence for the audit is collected
Evidence goes to `audit/2026/`, one folder for each control (`CC6.1`, `CC7.2`). Screenshots need a visible date.
===
test-cards | Numbers for payments in the sandbox
In the sandbox use 4242 4242 4242 4242 (works), 4000 0000 0000 0002 (declined), 5555 5555 5555 4444; any future date.
===
test-data | Where test data comes from
`make seed` builds 5,000 orders from `fixtures/`. Never copy production data, not even "just the ids".
===
support-hours | When support answers
Support answers Monday to Friday, 7:00 to 19:00 CET. Weekends only `severity: 1`, through the telephone.
===
glossary | Words that mean something else here
*Drop*: the moment when goods leave the van. *Key*: a physical key of a locker. *Token*: a plastic coin for trolleys.
===
prompt-library | Where the prompts are kept
Prompts live in `prompts/*.md`. The system prompt is `prompts/system.md`; its tests are in `evals/`. Never edit it in
the console: changes there are lost. The assistant must cite the article it quotes.
===
evals | How the evaluation of the assistant is run
`just eval --set injection` runs 120 cases, among them users who ask the assistant to forget its rules. 97 % pass.
===
domains | Which domains are ours
example.com (shop), example.org (company), example.net (mail). Renewal on 4 April, registrar account belongs to finance.
===
backup | Backups and how to restore one
Nightly at 02:00 UTC, kept for 35 days, encrypted with the key in the safe. Restore drill each quarter: 52 minutes.
"""


def entries(text: str) -> list[tuple[str, str, str]]:
    """Name, description and body of each."""
    found = []
    for entry in text.split("\n===\n"):
        head, _, body = entry.strip().partition("\n")
        name, _, description = head.partition(" | ")
        found.append((name, description, body.strip()))
    return found
