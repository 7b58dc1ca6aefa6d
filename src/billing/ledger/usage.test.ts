import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { assertExact, deposit, getBilling, listLedger, openPaid, spend } from '../../../test/support/billing.ts'
import { ask, createAgent, getTurn, openSession, say, until } from '../../../test/support/chat.ts'
import { startTestApp } from '../../../test/harness.ts'
import { sql } from '../../platform/database/database.ts'
import type { Database } from '../../platform/database/database.ts'
import { postCharges } from './ledger.ts'
import { newId } from '../../platform/ids.ts'
import { sweep } from '../jobs.ts'

const env = { PLATFORM_FEE_WAIVER_CENTS: '10000' }
const app = await startTestApp(env)
const { db } = app

describe('model calls', () => {
  test('charges a call to the microcent, posts whole cents and carries the remainder', async () => {
    const owner = await app.createOrg()
    await deposit(app, owner, 5_000)
    const session = await openPaid(app, owner)
    // 12,345 input + 1,000 × 4 output = 16,345 microcents.
    const { body } = await spend(app, owner, session.id, { input: 12_345, output: 1_000 })
    assert.deepEqual(
      [body.data.turn.costMicrocents, body.data.turn.platformFeeMicrocents, body.data.turn.chargedMicrocents],
      [16_345, 0, 16_345],
    )
    const snapshot = await assertExact(app, owner)
    assert.equal(snapshot.balance.balanceCents, 4_999)
    assert.equal(snapshot.balance.remainderMicrocents, 6_345)
    assert.equal(snapshot.balance.reservedMicrocents, 0)
    const month = snapshot.usage.currentMonth
    assert.deepEqual(
      [month.requestCount, month.inputTokens, month.outputTokens, month.totalTokens, month.totalChargedMicrocents],
      [1, 12_345, 1_000, 13_345, 16_345],
    )
    assert.deepEqual(month.operationBreakdown, [
      { operation: 'chat', requestCount: 1, totalChargedMicrocents: 16_345, totalChargedCents: 1 },
    ])
    await spend(app, owner, session.id, 3_655)
    assert.deepEqual(
      (await listLedger(app, owner)).map(({ type, amountCents }) => [type, amountCents]),
      [
        ['deposit', 5_000],
        ['usage', -1],
        ['usage', -1],
      ],
    )
    assert.equal((await assertExact(app, owner)).balance.remainderMicrocents, 0)
  })

  test('charges cached tokens at their own rates and not as uncached input as well', async () => {
    const owner = await app.createOrg()
    const session = await openPaid(app, owner)
    // Of 10,000 input 4,000 from the cache (0.1 each) and 2,000 to it (1.25 each): 4,000 + 400 + 2,500 + 4 × 500.
    const { body } = await spend(app, owner, session.id, {
      input: 10_000,
      output: 500,
      cacheRead: 4_000,
      cacheWrite: 2_000,
    })
    assert.equal(body.data.turn.costMicrocents, 8_900)
    const { usage } = await assertExact(app, owner)
    assert.deepEqual(
      [usage.currentMonth.inputTokens, usage.currentMonth.cacheReadTokens, usage.currentMonth.cacheWriteTokens],
      [10_000, 4_000, 2_000],
    )
  })

  test('counts a call of a free model as a request that costs nothing', async () => {
    const owner = await app.createOrg()
    const session = await openSession(app, owner)
    await ask(app, owner, session.id, { text: 'Hello' })
    const { usage, balance, transactions } = await assertExact(app, owner)
    assert.deepEqual([usage.currentMonth.requestCount, usage.currentMonth.totalChargedMicrocents], [1, 0])
    assert.deepEqual([balance.balanceCents, transactions], [0, []])
  })

  test('charges no fee up to the waiver, to the cent, and the full fee from the next call on', async () => {
    const owner = await app.createOrg()
    const session = await openPaid(app, owner)
    await deposit(app, owner, 10_000)
    assert.deepEqual((await getBilling(app, owner)).waiver, { active: true, remainingCents: 0 })
    const waived = await spend(app, owner, session.id, 123_457)
    assert.equal(waived.body.data.turn.platformFeeMicrocents, 0)
    await deposit(app, owner, 100)
    assert.deepEqual((await getBilling(app, owner)).waiver, { active: false, remainingCents: 0 })
    const charged = await spend(app, owner, session.id, 123_457)
    // 5 % of 123,457 is 6,172.85: rounded up.
    assert.deepEqual(
      [charged.body.data.turn.platformFeeMicrocents, charged.body.data.turn.chargedMicrocents],
      [6_173, 129_630],
    )
    // The calls recorded before the deposit stay without a fee.
    assert.equal((await getTurn(app, owner, waived.body.data.turn.id)).platformFeeMicrocents, 0)
    const { usage, balance } = await assertExact(app, owner)
    assert.equal(usage.currentMonth.platformFeeMicrocents, 6_173)
    assert.equal(balance.balanceCents, 10_100 - 25)
  })

  test('posts the fee as transactions of the type platform_fee', async () => {
    const owner = await app.createOrg()
    const session = await openPaid(app, owner)
    await deposit(app, owner, 10_100)
    await spend(app, owner, session.id, 1_000_000)
    const moved = (await listLedger(app, owner)).filter(({ type }) => type !== 'deposit')
    const sum = (type: string): number =>
      moved.filter((one) => one.type === type).reduce((a, b) => a + b.amountCents, 0)
    assert.deepEqual([sum('usage'), sum('platform_fee')], [-100, -5])
    await assertExact(app, owner)
  })

  test('records a call once when the end of its step is stored again', async () => {
    const owner = await app.createOrg()
    const session = await openPaid(app, owner)
    await spend(app, owner, session.id, 50_000)
    const before = await assertExact(app, owner)
    await db.execute(sql`
      insert into usage_inbox (org_id, turn_id, step, attempt, at, agent_id, project_id, model, operation, input_tokens,
        output_tokens, cache_read_tokens, cache_write_tokens, is_estimate, is_byok, provider_cost_microcents,
        platform_fee_microcents)
      select org_id, turn_id, step, attempt, at, agent_id, project_id, model, operation, input_tokens, output_tokens,
        cache_read_tokens, cache_write_tokens, is_estimate, is_byok, provider_cost_microcents, platform_fee_microcents
      from usage_records where org_id = ${owner.orgId}`)
    const after = await assertExact(app, owner)
    assert.deepEqual(after.balance, before.balance)
    assert.deepEqual(after.usage, before.usage)
  })

  test('are posted by the sweep for the orgs after one whose charges cannot be posted', async () => {
    // With work, a turn posts its own charges soon: these are of a process that died.
    const [broken, right] = [await app.createOrg(), await app.createOrg()]
    assert.ok(broken.orgId < right.orgId)
    const charge = (orgId: string, turnId: string) => sql`
      insert into usage_inbox (org_id, turn_id, step, attempt, agent_id, model, operation, input_tokens, output_tokens,
        cache_read_tokens, cache_write_tokens, is_estimate, is_byok, provider_cost_microcents, platform_fee_microcents)
      values (${orgId}, ${turnId}, 1, 1, gen_random_uuid(), 'demo/paid', 'chat', 1, 1, 0, 0, false,
        false, 20000, 0)`
    // The ID of the turn begins with its time, for which there is no partition.
    await db.execute(charge(broken.orgId, randomUUID()))
    await db.execute(charge(right.orgId, newId()))
    await db.transaction({ orgId: right.orgId }, (db) => app.deps.jobs.enqueue(db, sweep, {}))
    await until('the charge of the second org is posted', async () => {
      const posted = await db.rows(sql`select step from usage_records where org_id = ${right.orgId}`)
      return posted.length === 1
    })
    assert.ok(app.logLines.some((line) => line.includes('the billing of an org failed') && line.includes(broken.orgId)))
    await db.execute(sql`delete from usage_inbox where org_id = ${broken.orgId}`)
  })

  test('are all posted when they were there before, by a call that ends although others arrive faster than it posts', async () => {
    const { orgId } = await app.createOrg()
    const charge = (turnId: string, count: number, laterSeconds: number): Promise<number> =>
      db.execute(sql`
        insert into usage_inbox (org_id, turn_id, step, attempt, at, agent_id, model, operation, input_tokens,
          output_tokens, cache_read_tokens, cache_write_tokens, is_estimate, is_byok, provider_cost_microcents,
          platform_fee_microcents)
        select ${orgId}, ${turnId}, step, 1, now() + make_interval(secs => ${laterSeconds}), ${turnId}, 'demo/paid', 'chat',
          1, 1, 0, 0, false, false, 1, 0
        from generate_series(1, ${count}::integer) step`)
    const count = async (): Promise<{ posted: number; pending: number }> =>
      (await db.row<{ posted: number; pending: number }>(sql`
        select (select count(*)::int from usage_records where org_id = ${orgId}) as posted,
          (select count(*)::int from usage_inbox where org_id = ${orgId}) as pending`))!
    let rounds = 0
    const busy = Object.assign(Object.create(db) as Database, {
      transaction: async (...input: Parameters<Database['transaction']>): Promise<unknown> => {
        rounds += 1
        assert.ok(rounds < 10, 'it ends')
        const result = await db.transaction(...input)
        await charge(newId(), 10_000, 60)
        return result
      },
    })
    await charge(newId(), 25_000, -1)
    await postCharges({ db: busy, jobs: app.deps.jobs }, orgId)
    assert.deepEqual([rounds, await count()], [3, { posted: 25_000, pending: 30_000 }])
    // The sweep leaves the rest of a long backlog to the next one, so that other orgs are not delayed.
    await postCharges({ db, jobs: app.deps.jobs }, orgId, 1)
    assert.deepEqual(await count(), { posted: 35_000, pending: 20_000 })
    await db.execute(sql`delete from usage_inbox where org_id = ${orgId}`)
  })

  test('charges a cancelled call by estimate and leaves no reservation', async () => {
    const owner = await app.createOrg()
    await deposit(app, owner, 1_000)
    const session = await openPaid(app, owner)
    const { body } = await say(app, owner, session.id, { text: '/slow 20000\nHello there', background: true })
    await until(
      () => getTurn(app, owner, body.data.turn.id),
      (turn) => turn.steps.length === 1,
    )
    assert.ok((await getBilling(app, owner)).balance.reservedMicrocents > 0)
    await app.call('POST', `/api/v1/turns/${body.data.turn.id}/cancel`, { as: owner })
    const turn = await getTurn(app, owner, body.data.turn.id)
    assert.ok(turn.chargedMicrocents > 0)
    const { balance, usage } = await assertExact(app, owner)
    assert.equal(usage.currentMonth.totalChargedMicrocents, turn.chargedMicrocents)
    assert.equal(balance.reservedMicrocents, 0)
  })
})

describe('spending reports', () => {
  test('reports the same sums as the ledger at any moment while turns of two servers run', async () => {
    const owner = await app.createOrg()
    const other = await app.secondServer(env)
    await deposit(app, owner, 50_000)
    const sessions = await Promise.all(Array.from({ length: 4 }, (_, i) => openPaid(app, owner, { name: `Paid ${i}` })))
    let running = true
    let looks = 0
    const look = async (): Promise<void> => {
      for (; running; looks++) {
        // A response is one snapshot: every charge has reduced the balance or is in the remainder.
        const { balance, usage } = await getBilling(app, owner)
        assert.equal(
          usage.currentMonth.totalChargedMicrocents,
          (50_000 - balance.balanceCents) * 10_000 + balance.remainderMicrocents,
        )
      }
    }
    const looking = look()
    await Promise.all(
      sessions.map(async (session, i) => {
        for (let n = 0; n < 4; n++) {
          const { status } = await spend(i % 2 === 0 ? app : other, owner, session.id, {
            input: 7_777 * (i + 1),
            output: n * 333,
          })
          assert.equal(status, 200)
        }
      }),
    )
    running = false
    await looking
    assert.ok(looks > 2, `${looks}`)
    const { usage } = await assertExact(app, owner)
    assert.equal(usage.currentMonth.requestCount, 16)
    const expected = sessions.reduce((sum, _, i) => sum + 4 * 7_777 * (i + 1) + 4 * 333 * (0 + 1 + 2 + 3), 0)
    // With the fee, because the deposits exceed the waiver.
    assert.equal(usage.currentMonth.providerCostMicrocents, expected)
  })

  test('breaks spending down by model, agent and project, with one item without an id for no project', async () => {
    const owner = await app.createOrg()
    const project = await app.call('POST', '/api/v1/projects', { as: owner, json: { name: 'Launch' } })
    const projectId = project.body.data.id
    const inside = await openPaid(app, owner, { name: 'Inside' }, { projectId })
    const outside = await openPaid(app, owner, { name: 'Outside' })
    await spend(app, owner, inside.id, 30_000)
    await spend(app, owner, outside.id, 10_000)
    const read = async (path: string) =>
      (await app.call('GET', `/api/v1/billing/spending${path}`, { as: owner })).body.data
    const projects = await read('/by-project?period=today')
    assert.deepEqual(
      projects.items.map((item: Record<string, unknown>) => [
        item['id'],
        item['name'],
        item['totalChargedMicrocents'],
        item['share'],
      ]),
      [
        [projectId, 'Launch', 30_000, 0.75],
        [null, 'No project', 10_000, 0.25],
      ],
    )
    const agents = await read('/by-agent?period=7d')
    assert.deepEqual(
      agents.items.map((item: { name: string }) => item.name),
      ['Inside', 'Outside'],
    )
    const models = await read('/by-model?period=nonsense')
    assert.equal(models.period, 'month')
    assert.deepEqual(
      models.items.map((item: { id: string; name: string }) => [item.id, item.name]),
      [['atrium/demo-paid', 'Atrium Demo (paid)']],
    )
    const spending = await read('?period=30d')
    assert.equal(spending.daily.length, 30)
    assert.equal(spending.daily.at(-1).totalChargedMicrocents, 40_000)
    assert.equal(spending.daily[0].requestCount, 0)
    assert.deepEqual(spending.topModels, models.items)
  })

  test('charts the charges of the top models by day, of all others together, and of the period before', async () => {
    const owner = await app.createOrg()
    // Eight models on one day of each of the last 60, of which model-8 is charged the most.
    await app.db.execute(sql`
      insert into usage_rollups (org_id, axis, grain, period, key, request_count, byok_request_count, input_tokens,
        output_tokens, cache_read_tokens, cache_write_tokens, provider_cost_microcents, platform_fee_microcents,
        charged_microcents)
      select ${owner.orgId}, axis, 'day', (now() at time zone 'utc')::date - day, case axis when 'total' then '' else
        'model-' || model end, 1, 0, 0, 0, 0, 0, 0, 0, sum(model * 100)
      from generate_series(0, 59) day, generate_series(1, 8) model, (values ('model'), ('total')) as axes (axis)
      where day in (0, 29, 30, 59) group by axis, day, case axis when 'total' then '' else 'model-' || model end`)
    const { body } = await app.call('GET', '/api/v1/billing/spending?period=30d', { as: owner })
    const { grain, dates, models, previous } = body.data.chart
    assert.equal(grain, 'day')
    assert.deepEqual(
      dates,
      body.data.daily.map(({ date }: { date: string }) => date),
    )
    type Series = { id: string | null; name: string; chargedMicrocents: number[] }
    assert.deepEqual(
      models.map(({ id, chargedMicrocents: values }: Series) => [id, values[0], values[1], values.at(-1)]),
      [8, 7, 6, 5, 4, 3].map((n) => [`model-${n}`, n * 100, 0, n * 100]).concat([[null, 300, 0, 300] as never]),
    )
    assert.equal(models.at(-1).name, 'Other models')
    assert.equal(previous.totalChargedMicrocents, 7_200)
    assert.equal(previous.chargedMicrocents.length, 30)
    assert.deepEqual([previous.chargedMicrocents[0], previous.chargedMicrocents.at(-1)], [3_600, 3_600])
    const year = (await app.call('GET', '/api/v1/billing/spending?period=all', { as: owner })).body.data.chart
    assert.equal(year.grain, 'month')
    assert.equal(year.previous, null)
    const other = (await app.call('GET', '/api/v1/billing/spending?period=30d', { as: await app.createOrg() })).body
      .data
    assert.deepEqual(other.chart.models, [])
    assert.equal(other.chart.previous.totalChargedMicrocents, 0)
  })

  test('hides agents of workspaces that the reader is not in, but not from billing managers', async () => {
    const owner = await app.createOrg()
    const workspace = await app.call('POST', '/api/v1/workspaces', { as: owner, json: { name: 'Secret lab' } })
    const headers = { 'x-workspace-id': workspace.body.data.id }
    const agent = await app.call('POST', '/api/v1/agents', {
      as: owner,
      headers,
      json: { name: 'Manhattan', model: 'atrium/demo-paid' },
    })
    const session = await app.call('POST', '/api/v1/sessions', {
      as: owner,
      headers,
      json: { agentId: agent.body.data.id },
    })
    await app.call('POST', `/api/v1/sessions/${session.body.data.id}/messages`, {
      as: owner,
      headers,
      json: { text: '/tokens 20000 0 0 0' },
    })
    const member = await app.createUser(owner)
    const answer = await app.call('GET', '/api/v1/billing/spending/by-agent', { as: member })
    assert.deepEqual(
      answer.body.data.items.map((item: Record<string, unknown>) => [
        item['id'],
        item['name'],
        item['totalChargedMicrocents'],
      ]),
      [[null, 'Agents of other workspaces', 20_000]],
    )
    assert.doesNotMatch(answer.text, /Manhattan/)
    const manager = await app.createUser(owner, 'billing_manager')
    assert.match((await app.call('GET', '/api/v1/billing/spending', { as: manager })).text, /Manhattan/)
    assert.doesNotMatch((await app.call('GET', '/api/v1/billing/spending', { as: member })).text, /Manhattan/)
  })
})

describe('the ledger', () => {
  test('rejects updates and deletes of transactions, even by the owner of the database', async () => {
    const owner = await app.createOrg()
    await deposit(app, owner, 500)
    for (const statement of [
      sql`update transactions set amount_cents = 1 where org_id = ${owner.orgId}`,
      sql`delete from transactions where org_id = ${owner.orgId}`,
      sql`truncate transactions`,
      sql`update billing_accounts set balance_cents = 1000000 where org_id = ${owner.orgId}`,
      sql`delete from usage_records`,
      sql`insert into transactions (org_id, number, id, type, amount_cents, balance_after_cents)
        values (${owner.orgId}, 7, gen_random_uuid(), 'deposit', 100, 600)`,
    ]) {
      await assert.rejects(db.execute(statement), /append-only|by transactions only|does not continue/, statement.text)
    }
    assert.equal((await assertExact(app, owner)).balance.balanceCents, 500)
  })

  test('does not list transactions of another org', async () => {
    const owner = await app.createOrg()
    const stranger = await app.createOrg()
    await deposit(app, owner, 700)
    await createAgent(app, owner, { name: 'Mine' })
    const { body } = await app.call('GET', '/api/v1/billing/transactions', { as: stranger })
    assert.deepEqual([body.data.items, body.data.total], [[], 0])
    assert.equal((await getBilling(app, stranger)).balance.balanceCents, 0)
  })
})
