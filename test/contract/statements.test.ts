import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../src/platform/database/database.ts'
import { startTestApp } from '../harness.ts'
import { parseStatement, shardRules } from '../support/database/shard-rules.ts'
import { leaseClaimsOf, sourceFiles, statementsOf, testFiles } from '../support/database/sql-templates.ts'

// Statements for a schema that `atrium distribute` spreads over several servers by org_id. Whether Citus really accepts
// them is tested with ATRIUM_TEST_CITUS_URL; the rules were derived from what it rejected.

const app = await startTestApp()

/** Tables that stay on the coordinator although they have an `org_id`. */
const coordinatorTables = ['members', 'invitations', 'workspaces', 'workspace_members', 'api_keys', 'directory']

interface Exception {
  file: string
  name: string
  rule: string
  why: string
}

const exceptions: Exception[] = [
  ...['recursion across shards', 'lateral join across shards'].map((rule) => ({
    file: 'src/webhooks/deliver/lane-queries.ts',
    name: 'listLanes',
    rule,
    why: 'deliver/claim.ts sends listDueLanes where tables are distributed',
  })),
  ...['recursion across shards', 'lateral join across shards'].map((rule) => ({
    file: 'src/outbox/queries.ts',
    name: 'listWaitingOrgs',
    rule,
    why: 'publisher.ts sends listWaitingOrgsOfShards where tables are distributed',
  })),
  ...['countDestinations', 'settleDeliveries'].map((name) => ({
    file: 'src/webhooks/deliver/queue-queries.ts',
    name,
    rule: 'row lock with a join in a CTE',
    why: 'countedWebhooks and countedEndpoints have no join for outcomes of one org',
  })),
  {
    file: 'src/connectors/endpoints/queries.ts',
    name: 'connectionIsGone',
    rule: 'org of another query',
    why: 'a part of statements of all orgs',
  },
  ...['queued', 'ended'].map((name) => ({
    file: 'src/webhooks/deliver/queries.ts',
    name,
    rule: 'org of another query',
    why: 'the beginning of statements whose condition names the org',
  })),
  ...[
    ['src/files/queries.ts', 'lookUpById'],
    ['src/agents/queries.ts', 'lookUpById'],
    ['src/events/endpoints/queries.ts', 'lookUpById'],
    ['src/sessions/turns/details-queries.ts', 'lookUpTurn'],
  ].map(([file = '', name = '']) => ({
    file,
    name,
    rule: 'lateral join across shards',
    why: '`ofOrg` names the org where tables are distributed',
  })),
]

const distributed = new Set(
  (
    await app.db.rows<{ name: string }>(sql`
      select table_name::text as name from information_schema.columns
      where table_schema = 'public' and column_name = 'org_id'`)
  )
    .map(({ name }) => name)
    .filter((name) => !coordinatorTables.includes(name)),
)

const brokenRules = (text: string): string[] => {
  const statement = parseStatement(text, distributed)
  return shardRules.filter((rule) => rule.find(statement) !== undefined).map(({ name }) => name)
}

test('every statement over tenant tables can run where these are distributed by org_id', () => {
  const queryFiles = sourceFiles.filter((file) => file.endsWith('queries.ts'))
  const statements = [...sourceFiles.flatMap(statementsOf), ...queryFiles.flatMap(leaseClaimsOf)]
  const checked = statements.filter(({ text }) => parseStatement(text, distributed).isDistributed)
  assert.ok(checked.length > 300, `only ${checked.length} statements were found`)
  const found = checked.flatMap(({ file, name, text }) => brokenRules(text).map((rule) => ({ file, name, rule })))
  const isExcepted = (one: Omit<Exception, 'why'>): boolean =>
    exceptions.some(({ file, name, rule }) => file === one.file && name === one.name && rule === one.rule)
  assert.deepEqual(
    found.filter((one) => !isExcepted(one)),
    [],
    JSON.stringify(shardRules.map(({ name, why }) => ({ name, why }))),
  )
  const isNeeded = ({ file, name, rule }: Exception): boolean =>
    found.some((one) => file === one.file && name === one.name && rule === one.rule)
  assert.deepEqual(
    exceptions.filter((exception) => !isNeeded(exception)),
    [],
    'exceptions that nothing needs any more',
  )
})

/** Tests may read across shards, and insert rows with random values. What the others find, Citus rejects for tests as well. */
const rulesForTests = [
  'volatile function in an update',
  'time in CASE or COALESCE of an update',
  'time or stable function in RETURNING',
  'time or subquery in ON CONFLICT',
  'subquery in an insert of values',
  'stable operator with a column in a change',
  'ctid',
  'conflict target without org_id',
  'insert without org_id',
]

test('every change that a test makes to tenant tables can run where these are distributed by org_id', () => {
  const found = testFiles
    .flatMap(statementsOf)
    .flatMap(({ file, name, text }) => brokenRules(text).map((rule) => ({ file, name, rule, text })))
    .filter(({ rule }) => rulesForTests.includes(rule))
  assert.deepEqual(found, [])
})

/** For each rule, a statement that breaks it and a similar one that does not break any. */
const samples: Record<string, { broken: string[]; right: string[] }> = {
  'volatile function': {
    broken: ['update turns set claimed_at = clock_timestamp() where org_id = $1 and id = $2'],
    right: [
      'update turns set claimed_at = statement_timestamp() where org_id = $1 and id = $2',
      'select clock_timestamp()',
      'update api_keys set last_used_at = clock_timestamp() where org_id = $1',
    ],
  },
  'volatile function in an update': {
    broken: ['update uploads set lease_token = gen_random_uuid() where org_id = $1 and id = $2'],
    right: ['update uploads set lease_token = $1 where org_id = $2 and id = $3', 'select gen_random_uuid()'],
  },
  'time in CASE or COALESCE of an update': {
    broken: [
      'update turns set started_at = coalesce(started_at, now()) where org_id = $1',
      `update turns set ended_at = case when status = 'x' then now() else ended_at end where org_id = $1`,
      'with t as (select id from turns where org_id = $1) update turns set ended_at = coalesce(ended_at, now()) from t where org_id = $1',
    ],
    right: [
      'update turns set started_at = coalesce(started_at, (select now())), updated_at = now() where org_id = $1',
      'select coalesce(ended_at, now()) from turns where org_id = $1',
      'insert into turns (org_id, id, started_at) select org_id, id, coalesce(started_at, now()) from turns where org_id = $1',
    ],
  },
  'time or stable function in RETURNING': {
    broken: [
      'update files set name = $1 where org_id = $2 returning created_at < now() as is_old',
      'update files set name = $1 where org_id = $2 returning updated_at::text',
      'update turns set status = $1 where org_id = $2 returning turns.id, turns.skipped::text as skipped',
    ],
    right: ['update files set name = $1, updated_at = now() where org_id = $2 returning created_at < (select now())'],
  },
  'time or subquery in ON CONFLICT': {
    broken: [
      'insert into blobs (org_id, id) values ($1, $2) on conflict (org_id, id) do update set created_at = now()',
      'insert into blobs (org_id, id) values ($1, $2) on conflict (org_id, id) do update set created_at = (select now())',
    ],
    right: [
      'insert into blobs (org_id, id, created_at) values ($1, $2, now()) on conflict (org_id, id) do update set created_at = excluded.created_at',
    ],
  },
  'subquery in an insert of values': {
    broken: [
      'insert into uploads (org_id, id) values ($1, $2) returning id, expires_at <= (select now()) as is_expired',
      'insert into uploads (org_id, id, expires_at) values ($1, $2, (select now()))',
    ],
    right: [
      'insert into uploads (org_id, id, expires_at) select $1, $2, (select now()) returning id',
      'insert into uploads (org_id, id, expires_at) values ($1, $2, now()) returning id, false as is_expired',
    ],
  },
  'stable operator with a column in a change': {
    broken: [
      `update turns set lease_until = lease_until + interval '1 hour' where org_id = $1`,
      `update turns t set lease_until = now() + g.seconds * interval '1 second' from unnest($1::int[]) g (seconds) where t.org_id = $2`,
    ],
    right: [`update turns set lease_until = now() + $2 * interval '1 second' where org_id = $1`],
  },
  ctid: {
    broken: ['-- all orgs: x\ndelete from turn_events where ctid = any(array(select ctid from turn_events limit $1))'],
    right: [
      '-- all orgs: x\ndelete from turn_events where (org_id, turn_id, seq) in (select org_id, turn_id, seq from turn_events limit $1)',
    ],
  },
  'row lock across shards': {
    broken: [
      `-- all orgs: x\nselect org_id, id from files where status = 'pending' for update skip locked`,
      `select id, array(select p.participant_id from session_participants p where p.org_id = sessions.org_id) from sessions where org_id = $1 for update`,
    ],
    right: [
      'select id, array(select p.participant_id from session_participants p where p.org_id = $1) from sessions where org_id = $1 for update',
      '-- all orgs: x\nselect id from orgs where id = $1 for update',
    ],
  },
  'row lock with a join in a CTE': {
    broken: [
      'with o as (select w.id from webhooks w join files f on f.org_id = w.org_id where w.org_id = $1 for update of w) update webhooks w set name = $2 from o where w.org_id = $1 and w.id = o.id',
    ],
    right: [
      'with o as (select w.id from webhooks w where w.org_id = $1 for update) update webhooks w set name = $2 from o where w.org_id = $1 and w.id = o.id',
    ],
  },
  'recursion across shards': {
    broken: [
      '-- all orgs: x\nwith recursive o as ((select org_id from usage_inbox limit 1) union all (select i.org_id from usage_inbox i limit 1)) select org_id from o',
    ],
    right: [
      'with recursive up as (select id from files where org_id = $1 union all select f.id from up join files f on f.org_id = $1 and f.id = up.id) select id from up',
    ],
  },
  'lateral join across shards': {
    broken: [
      'select f.id from unnest($1::uuid[], $2::uuid[]) as asked (org_id, id) cross join lateral (select f.id from files f where f.org_id = asked.org_id and f.id = asked.id) f',
    ],
    right: [
      'select f.id from unnest($1::uuid[]) as asked (id) cross join lateral (select f.id from files f where f.org_id = $2 and f.id = asked.id) f',
    ],
  },
  'correlated subquery outside of a shard': {
    broken: [
      '-- all orgs: x\nselect o.id from orgs o where not exists (select from blobs b where b.org_id = o.id and b.org_id = o.org_id)',
      '-- all orgs: x\nselect l.id from unnest($1::uuid[], $2::uuid[]) as l (org_id, id) where (select w.status from webhooks w where w.org_id = l.org_id and w.id = l.id) = $3',
    ],
    right: [
      '-- all orgs: x\nselect w.id from webhooks w where exists (select from webhook_queue q where q.org_id = w.org_id and q.webhook_id = w.id)',
      'select l.id from unnest($1::uuid[]) as l (id) where (select w.status from webhooks w where w.org_id = $2 and w.id = l.id) = $3',
    ],
  },
  'org of another query': {
    broken: [
      'with c as (update sessions set revision = 1 where org_id = $1 returning org_id, id) update session_participants p set updated_at = now() from c where p.org_id = c.org_id and p.session_id = c.id',
      'with c as (select org_id, id from sessions where org_id = $1) select m.id from c join messages m on m.org_id = c.org_id and m.session_id = c.id',
      'select f.id, exists (select from files c where c.org_id = f.org_id and c.container_id = f.id) from files f where f.org_id = $1',
      'select f.id from files f where f.org_id = $1 and (f.blob_id is null or exists (select from blobs b where b.org_id = f.org_id and b.id = f.blob_id))',
      'update turns set attempts = 1 where org_id = $1 returning (select s.title from sessions s where s.org_id = turns.org_id and s.id = turns.session_id)',
    ],
    right: [
      'select f.id, exists (select from files c where c.org_id = $1 and c.container_id = f.id) from files f where f.org_id = $1',
      'select f.id from files f where f.org_id = $1 and f.blob_id is null and not exists (select from blobs b where b.org_id = f.org_id and b.id = f.blob_id)',
      '-- all orgs: x\nselect f.id, exists (select from files c where c.org_id = f.org_id and c.container_id = f.id) from files f',
      'with c as (update sessions set revision = 1 where org_id = $1 returning id) update session_participants p set updated_at = now() from c where p.org_id = $2 and p.session_id = c.id',
    ],
  },
  'table of the coordinator in a condition': {
    broken: [
      'select f.id from files f where f.org_id = $1 and exists (select from members m where m.org_id = $1 and m.user_id = f.created_by)',
      'update files f set status = $1 where f.org_id = $2 and (not $3 or exists (select from members m where m.org_id = $2))',
    ],
    right: [
      'select f.id, exists (select from members m where m.org_id = $1) as is_member from files f where f.org_id = $1',
      'select m.id from members m where m.org_id = $1 and exists (select from users u where u.id = m.user_id)',
    ],
  },
  'all people joined to rows of a shard': {
    broken: ['select s.id, u.email from oauth_states s join users u on u.id = s.user_id where s.org_id = $1'],
    right: ['select m.role, u.email from members m join users u on u.id = m.user_id where m.org_id = $1'],
  },
  'table without org_id': {
    broken: [
      'select name from files where id = $1',
      'select b.id from blobs b join files f on f.blob_id = b.id where b.org_id = b.org_id',
      '-- all orgs: x\nselect b.id from blobs b join files f on f.blob_id = b.id',
    ],
    right: [
      'select b.id from blobs b join files f on f.org_id = b.org_id and f.blob_id = b.id where b.org_id = $1',
      '-- all orgs: x\nselect org_id, id from blobs where state = $1',
    ],
  },
  'conflict target without org_id': {
    broken: ['insert into blobs (org_id, id) values ($1, $2) on conflict (id) do nothing'],
    right: ['insert into blobs (org_id, id) values ($1, $2) on conflict (org_id, id) do nothing'],
  },
  'insert without org_id': {
    broken: ['insert into blobs (id, state) values ($1, $2)'],
    right: ['insert into blobs (org_id, id, state) values ($1, $2, $3)'],
  },
}

for (const { name } of shardRules) {
  test(`a statement that breaks the rule "${name}" is found, and one that looks similar is not`, () => {
    const { broken, right } = samples[name] ?? { broken: [], right: [] }
    assert.ok(broken.length > 0 && right.length > 0)
    for (const text of broken) assert.ok(brokenRules(text).includes(name), text)
    for (const text of right) assert.deepEqual(brokenRules(text), [], text)
  })
}
