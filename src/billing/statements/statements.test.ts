import assert from 'node:assert/strict'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { assertExact, deposit, listLedger, openPaid, spend } from '../../../test/support/billing.ts'
import { secretKey, signedEvent, startFakeStripe, webhookSecret } from '../../../test/fakes/stripe.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { sql } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import { adjust, lockAccount, postCharges, postEntries } from '../ledger/ledger.ts'
import { createPdfPrinter } from '../documents/pdf.ts'
import { monthsUntil } from './months.ts'
import { openPdf } from '../../files/preview/open-pdf.ts'

/** The text of each page of a PDF. */
const pdfText = async (bytes: Uint8Array): Promise<string[]> => {
  const pdf = await openPdf(Buffer.from(bytes), { useSystemFonts: false, useWasm: false })
  const pages = Array.from({ length: pdf.numPages }, async (_, index) => {
    const { items } = await (await pdf.getPage(index + 1)).getTextContent()
    return items.map((item) => ('str' in item ? `${item.str}${item.hasEOL ? '\n' : ''}` : '')).join('')
  })
  return Promise.all(pages)
}

const stripe = await startFakeStripe()
const plansFile = join(await mkdtemp(join(tmpdir(), 'atrium-plans-')), 'plans.json')
const paidPlan = { description: 'A plan' }
await writeFile(
  plansFile,
  JSON.stringify([
    { ...paidPlan, id: 'pro', name: 'Pro', priceCents: 2_000, includedCreditCents: 2_000 },
    { ...paidPlan, id: 'storage', name: 'Storage', priceCents: 500 },
  ]),
)
const app = await startTestApp({
  PLANS_FILE: plansFile,
  STRIPE_SECRET_KEY: secretKey,
  STRIPE_WEBHOOK_SECRET: webhookSecret,
  STRIPE_API_BASE: stripe.origin,
  ALLOW_DIRECT_DEPOSITS: '1',
  BILLING_SELLER_NAME: 'Example Hosting Ltd.',
  BILLING_SELLER_ADDRESS: '1 Example Street; London E1 6AN; United Kingdom',
  BILLING_SELLER_TAX_ID: 'GB123456789',
})
const { db } = app
const { jobs } = app.deps
const base = '/api/v1/billing'

// oxlint-disable-next-line typescript/no-explicit-any -- tests read fields of responses of any shape
type Json = any

// Only so that these tests can move transactions to earlier months.
await db.execute(sql`drop trigger transactions_append_only on transactions`)

const get = async (as: TestActor, path: string): Promise<Json> => {
  const { status, body, text } = await app.call('GET', `${base}${path}`, { as })
  assert.equal(status, 200, text)
  return body.data
}

const statementOf = (as: TestActor, month: string): Promise<Json> => get(as, `/statements/${month}`)

const documentOf = async (as: TestActor, path: string, query: string) => {
  const answer = await fetch(`${app.url}${base}${path}/document?${query}`, {
    headers: { authorization: `Bearer ${as.key}` },
  })
  return { status: answer.status, headers: answer.headers, bytes: new Uint8Array(await answer.arrayBuffer()) }
}

const pageOf = async (
  as: TestActor,
  path: string,
  query = 'format=html',
): Promise<{ html: string; headers: Headers }> => {
  const { status, headers, bytes } = await documentOf(as, path, query)
  const html = new TextDecoder().decode(bytes)
  assert.equal(status, 200, html)
  return { html, headers }
}

const pdfOf = async (as: TestActor, path: string, query = 'format=pdf') => {
  const { status, headers, bytes } = await documentOf(as, path, query)
  assert.equal(status, 200, new TextDecoder().decode(bytes))
  assert.equal(headers.get('content-type'), 'application/pdf')
  const text = await pdfText(bytes)
  return { headers, pages: text.length, text }
}

const now = new Date()
const thisMonth = now.toISOString().slice(0, 7)
/** Three months that are over, and this one. */
const months = monthsUntil(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 3, 1)), now)
const [first, second] = months.map(({ month }) => month) as [string, string]

const sum = (items: Json[], field: string): number => items.reduce((total, one) => total + one[field], 0)

/** Moves the transactions of an org that were posted since the last call to this time. */
const backdate = (orgId: string, at: Date) =>
  db.execute(sql`
    update transactions set created_at = ${at.toISOString()}
    where org_id = ${orgId} and created_at > ${now.toISOString()}::timestamptz - interval '1 hour'`)

const charge = (orgId: string, at: Date, { model, cost, fee }: { model: string; cost: number; fee: number }) =>
  db.execute(sql`
    insert into usage_inbox (org_id, turn_id, step, attempt, at, agent_id, model, operation, input_tokens, output_tokens,
      cache_read_tokens, cache_write_tokens, is_estimate, is_byok, provider_cost_microcents, platform_fee_microcents)
    values (${orgId}, ${newId()}, 1, 1, ${at.toISOString()}, ${newId()}, ${model}, 'chat', 10, 2, 0, 0, false,
      ${cost % 4 === 0}, ${cost}, ${fee})`)

const post = (orgId: string, type: 'deposit' | 'refund' | 'adjustment', amountCents: number): Promise<unknown> =>
  db.transaction({ orgId }, async (db) =>
    postEntries(db, await lockAccount(db, orgId), [{ type, amountCents: BigInt(amountCents) }]),
  )

type Step = (orgId: string, at: Date) => Promise<unknown>

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    arbitrary: fc
      .record({
        model: fc.constantFrom('m/1', 'm/2', 'm/3'),
        cost: fc.integer({ min: 0, max: 50_000 }),
        fee: fc.nat(5_000),
      })
      .map(
        (call): Step =>
          (orgId, at) =>
            charge(orgId, at, call),
      ),
    weight: 4,
  },
  { arbitrary: fc.constant<Step>((orgId) => postCharges({ db, jobs }, orgId)), weight: 2 },
  fc.integer({ min: 1, max: 5_000 }).map(
    (cents): Step =>
      (orgId) =>
        post(orgId, 'deposit', cents),
  ),
  fc.integer({ min: 1, max: 900 }).map(
    (cents): Step =>
      (orgId) =>
        post(orgId, 'refund', -cents),
  ),
  fc
    .integer({ min: -500, max: 500 })
    .filter((cents) => cents !== 0)
    .map(
      (cents): Step =>
        (orgId) =>
          post(orgId, 'adjustment', cents),
    ),
)

describe('statements', () => {
  test('add up exactly to the ledger, month by month, for any history of deposits, charges and late posting', async () => {
    const begin = Date.parse(months[0]!.from)
    const end = Date.parse(months[3]!.from)
    const steps = fc.array(fc.record({ step, share: fc.double({ min: 0, max: 0.9999, noNaN: true }) }), {
      maxLength: 24,
    })
    await fc.assert(
      fc.asyncProperty(steps, async (given) => {
        const owner = await app.createOrg()
        const { orgId } = owner
        for (const { step, share } of given.toSorted((a, b) => a.share - b.share)) {
          const at = new Date(begin + Math.floor(share * (end - begin)))
          await step(orgId, at)
          await backdate(orgId, at)
        }
        const listed = (await get(owner, '/statements')).items
        const ledger = await listLedger(app, owner)
        const records = await db.rows<{ at: string; microcents: number }>(sql`
          select at, charged_microcents::float8 as microcents from usage_records where org_id = ${orgId}`)
        const { balance } = await get(owner, '')
        let [balanceCents, carried] = [0, 0]
        for (const { month } of months) {
          const one = await statementOf(owner, month)
          const entries = ledger.filter(({ createdAt }) => createdAt.startsWith(month))
          const used = records.filter(({ at }) => at.startsWith(month))
          const centsOf = (...types: string[]): number =>
            sum(
              entries.filter(({ type }) => types.includes(type)),
              'amountCents',
            )
          assert.equal(one.openingBalanceCents, balanceCents, 'it begins where the month before ended')
          assert.equal(one.depositsCents, centsOf('deposit'))
          assert.equal(one.refundsCents, centsOf('refund'))
          assert.equal(one.adjustmentsCents, centsOf('adjustment'))
          assert.equal(one.usageCents, centsOf('usage', 'platform_fee'))
          balanceCents += sum(entries, 'amountCents')
          assert.equal(one.closingBalanceCents, balanceCents)
          assert.equal(
            sum(one.entries, 'amountCents') + one.omittedCents,
            balanceCents - one.openingBalanceCents - one.usageCents,
          )
          const { usage } = one
          const charged = sum(usage.models, 'amountMicrocents') + usage.platformFeeMicrocents
          assert.equal(charged, sum(used, 'microcents'), 'every call of the month is in a line')
          assert.equal(usage.carriedInMicrocents, carried, 'what one month carries over, the next one has')
          carried = usage.carriedOutMicrocents
          assert.ok(carried >= 0)
          assert.equal(usage.totalMicrocents, charged + usage.carriedInMicrocents - carried)
          assert.equal(usage.totalMicrocents, 0 - 10_000 * one.usageCents)
          assert.equal(one.provisional, month === thisMonth)
          const hasMovement = entries.length > 0 || used.length > 0
          const { entries: _, usage: _usage, omittedCount: _count, omittedCents: _cents, ...rest } = one
          const summary = listed.find((item: Json) => item.month === month)
          assert.deepEqual(summary === undefined, !hasMovement)
          if (summary) assert.deepEqual({ ...rest, ...summary }, rest, 'the list has the same sums')
        }
        assert.equal(balanceCents, balance.balanceCents)
        assert.equal(carried, balance.remainderMicrocents)
      }),
      { numRuns: Number(process.env['ATRIUM_TEST_RUNS'] ?? 12) },
    )
  })

  test('are listed newest first in pages, and only for months that have begun', async () => {
    const owner = await app.createOrg()
    assert.deepEqual(await get(owner, '/statements'), { items: [], nextCursor: null })
    await post(owner.orgId, 'deposit', 500)
    await backdate(owner.orgId, new Date(months[0]!.from))
    const session = await openPaid(app, owner)
    await spend(app, owner, session.id, 25_000)
    const page = await get(owner, '/statements?limit=1')
    assert.deepEqual(
      page.items.map(({ month, usageCents, provisional }: Json) => [month, usageCents, provisional]),
      [[thisMonth, -2, true]],
    )
    const rest = await get(owner, `/statements?limit=1&cursor=${page.nextCursor}`)
    assert.deepEqual(
      rest.items.map(({ month, depositsCents, provisional }: Json) => [month, depositsCents, provisional]),
      [[first, 500, false]],
    )
    assert.equal(rest.nextCursor, null)
    assert.equal((await statementOf(owner, second)).closingBalanceCents, 500, 'a month without changes has a statement')
    const next = new Date(Date.parse(months[3]!.to)).toISOString().slice(0, 7)
    for (const month of [next, '2026-13', '1999-12', 'november', '2026-1', '2026-011']) {
      const { status } = await app.call('GET', `${base}/statements/${month}`, { as: owner })
      assert.ok(status === 404 || status === 400, `${month}: ${status}`)
    }
  })
})

const hostile = `<script>alert(1)</script> "quoted" & 'single' \u202Eevil \u0007 漢字 🎉 ${'x'.repeat(10_000)}`

describe('documents', () => {
  test('show hostile text harmlessly, as a page without scripts and as a PDF file', async () => {
    const owner = await app.createOrg()
    const { orgId } = owner
    await db.execute(sql`update orgs set name = ${hostile.slice(0, 110)} where id = ${orgId}`)
    await adjust(db, orgId, 700n, hostile)
    await charge(orgId, new Date(), { model: hostile, cost: 30_001, fee: 99 })
    const { html, headers } = await pageOf(owner, `/statements/${thisMonth}`)
    assert.equal(headers.get('content-type'), 'text/html; charset=utf-8')
    assert.match(
      headers.get('content-security-policy') ?? '',
      /^default-src 'none'; style-src 'sha256-[^;]+'; .*sandbox$/,
    )
    assert.equal(headers.get('content-disposition'), `inline; filename="statement-${thisMonth}.html"`)
    assert.equal(headers.get('cache-control'), 'no-store')
    assert.doesNotMatch(html, /<script|\son\w+=|\u202E/)
    assert.ok(!html.includes('\u0007'))
    assert.ok(
      html.includes('&lt;script&gt;alert(1)&lt;/script&gt; &quot;quoted&quot; &amp; &#39;single&#39; evil 漢字 🎉'),
    )
    assert.ok(html.length < 20_000, 'long text is cut')
    assert.match(html, /Provisional: /)
    assert.match(html, /\$0\.030001/)

    const { headers: file, pages, text } = await pdfOf(owner, `/statements/${thisMonth}`)
    assert.equal(file.get('content-disposition'), `attachment; filename="statement-${thisMonth}.pdf"`)
    assert.ok(pages <= 2, `${pages}`)
    assert.match(text.join(''), /<script>alert\(1\)<\/script>/)
    assert.match(text.join(''), /Closing balance/)
  })

  test('with many lines have a bounded number of pages, each with the head of the table and its number', async () => {
    const owner = await app.createOrg()
    const entries = Array.from({ length: 620 }, (_, index) => ({
      type: 'adjustment' as const,
      amountCents: BigInt(index + 1),
    }))
    await db.transaction({ orgId: owner.orgId }, async (db) =>
      postEntries(db, await lockAccount(db, owner.orgId), entries),
    )
    const { entries: shown, omittedCount, omittedCents, adjustmentsCents } = await statementOf(owner, thisMonth)
    assert.deepEqual([shown.length, omittedCount], [500, 120])
    assert.equal(sum(shown, 'amountCents') + omittedCents, adjustmentsCents)
    const { pages, text } = await pdfOf(owner, `/statements/${thisMonth}`)
    assert.ok(pages > 10 && pages < 25, `${pages}`)
    for (const [index, page] of text.entries()) assert.match(page, new RegExp(`Page ${index + 1} of ${pages}`))
    for (const page of text.slice(1, -1)) assert.match(page, /^\s*Date\s+Description\s+Amount/)
    assert.match(text.at(-1)!, /120 more/)
  })

  test('are in the language of the caller, or in the one that is asked for', async () => {
    const owner = await app.createOrg()
    await deposit(app, owner, 123_456).catch(() => undefined)
    await app.call('POST', `${base}/deposit`, { as: owner, json: { amountCents: 99_900, method: 'direct' } })
    const path = `/statements/${first}`
    await backdate(owner.orgId, new Date(months[0]!.from))
    assert.match((await pageOf(owner, path)).html, /<html lang="en">.*\$999\.00/s)
    await db.execute(sql`update members set language = 'de' where org_id = ${owner.orgId}`)
    const { html } = await pageOf(owner, path)
    assert.match(html, /<html lang="de">.*999,00\s\$.*Endguthaben.*Direkte Aufladung/s)
    assert.doesNotMatch(html, /Provisional|Vorläufig|Closing|Deposit/)
    assert.match((await pageOf(owner, path, 'format=html&language=en')).html, /Closing balance: \$999\.00/)
    assert.match((await pdfOf(owner, path)).text.join(''), /Monatsauszug.*999,00\s\$/s)
  })

  const document = {
    language: 'en' as const,
    title: 'Receipt',
    issuer: '',
    notice: null,
    facts: [['Number', '1']] satisfies [string, string][],
    parties: [],
    headline: '',
    tables: [],
    notes: [],
    footer: '',
    pageLabel: '{page}',
    createdAt: now.toISOString(),
  }

  test('of a person with many requests leave places to others of the org and to other orgs', async () => {
    const printer = createPdfPrinter()
    const order: string[] = []
    const print = async (orgId: string, userId: string): Promise<void> => {
      await printer.print(document, { orgId, userId })
      order.push(`${orgId} ${userId}`)
    }
    const busy = Array.from({ length: 6 }, () => print('a', 'busy'))
    await assert.rejects(print('a', 'busy'), { code: 'SERVICE_UNAVAILABLE' })
    await Promise.all([...busy, print('a', 'other'), print('b', 'third')])
    const ofOrg = order.filter((name) => name !== 'b third')
    assert.deepEqual(ofOrg.slice(0, 3).toSorted(), ['a busy', 'a busy', 'a other'], order.join())
    assert.ok(order.indexOf('b third') <= 2, order.join())
    await printer.close()
  })

  test('are rejected with SERVICE_UNAVAILABLE when too many wait, and end with their request', async () => {
    const printer = createPdfPrinter()
    const aborted = new AbortController()
    const results = Array.from({ length: 14 }, () =>
      printer.print(document, { orgId: 'a', signal: aborted.signal }).then(
        () => 'printed',
        (error: Json) => error.code ?? error.message,
      ),
    )
    const refused = await Promise.race(results.slice(-1))
    assert.equal(refused, 'SERVICE_UNAVAILABLE')
    aborted.abort(new Error('gone'))
    assert.deepEqual(new Set((await Promise.all(results)).slice(0, 11)), new Set(['gone']))
    await printer.close()
  })
})

const sendEvent = async (type: string, object: object): Promise<void> => {
  const { body, headers } = signedEvent(type, object)
  assert.equal((await app.call('POST', `${base}/webhooks/stripe`, { body, headers })).status, 200)
}

const depositByCard = async (as: TestActor, amountCents: number): Promise<string> => {
  const { body } = await app.call('POST', `${base}/deposit`, { as, json: { amountCents } })
  const session = stripe.pay(body.data.sessionId)
  await sendEvent('checkout.session.completed', session)
  return session.payment_intent
}

describe('receipts', () => {
  test('are numbered without gaps, keep the buyer of the time of the payment, and belong to one org', async () => {
    const owner = await app.createOrg()
    const change = (json: object) => app.call('PATCH', base, { as: owner, json })
    const details = {
      name: 'Northwind GmbH',
      address: ' Straße 1 \n\n 10115  Berlin',
      taxId: 'DE1',
      email: 'a@b.example',
    }
    assert.equal((await change({ billingDetails: details })).status, 200)
    const kept = { ...details, address: 'Straße 1\n10115 Berlin' }
    assert.deepEqual((await get(owner, '')).billingDetails, kept)
    const [one] = [await depositByCard(owner, 2_500)]
    assert.equal((await change({ billingDetails: { name: 'Southwind AG', taxId: null } })).status, 200)
    const more = await Promise.all([depositByCard(owner, 1_000), depositByCard(owner, 1_100)])
    // As the previous version stores a payment.
    await db.execute(sql`
      insert into payments (org_id, payment_intent_id, amount_cents) values (${owner.orgId}, 'pi_old', 300)`)

    const { items } = await get(owner, '/receipts?limit=3')
    const label = owner.orgId.slice(-8).toUpperCase()
    assert.deepEqual(
      items.map(({ number }: Json) => number),
      [`${label}-0004`, `${label}-0003`, `${label}-0002`],
    )
    assert.equal(items[0].paymentIntentId, 'pi_old')
    assert.deepEqual(new Set(items.slice(1).map((item: Json) => item.paymentIntentId)), new Set(more))
    const receipt = await get(owner, `/receipts/${one}`)
    assert.deepEqual(receipt.buyer, kept, 'later changes do not change a receipt')
    assert.deepEqual(
      [receipt.number, receipt.kind, receipt.paidCents, receipt.creditedCents, receipt.planId],
      [`${label}-0001`, 'deposit', 2_500, 2_500, null],
    )
    assert.equal(receipt.seller.address, '1 Example Street\nLondon E1 6AN\nUnited Kingdom')
    assert.deepEqual(
      (await get(owner, `/receipts/${more[0]}`)).buyer,
      { ...kept, name: 'Southwind AG', taxId: null },
      'fields that were not sent stay',
    )

    const stranger = await app.createOrg()
    for (const path of [`/receipts/${one}`, `/receipts/${one}/document`, '/receipts/pi_unknown']) {
      assert.equal((await app.call('GET', base + path, { as: stranger })).status, 404)
    }
    const audit = await app.call('GET', '/api/v1/audit-log?action=billing.settings-changed', { as: owner })
    assert.doesNotMatch(audit.text, /Northwind|Berlin/, 'the audit log keeps no addresses')
  })

  test('rejects billing details that are invalid, and removes all with null', async () => {
    const owner = await app.createOrg()
    for (const billingDetails of [
      { email: 'nobody' },
      { address: '1\n2\n3\n4\n5\n6\n7' },
      { name: 'x'.repeat(201) },
      { taxId: 5 },
    ]) {
      const { status, body } = await app.call('PATCH', base, { as: owner, json: { billingDetails } })
      assert.deepEqual([status, body.error.code], [400, 'BAD_REQUEST'])
    }
    await app.call('PATCH', base, { as: owner, json: { billingDetails: { taxId: '1' } } })
    await app.call('PATCH', base, { as: owner, json: { billingDetails: null } })
    const none = { name: null, address: null, taxId: null, email: null }
    assert.deepEqual((await get(owner, '')).billingDetails, none)
  })

  test('of deposits without a payment are in the same series, once each, and say that nothing was paid', async () => {
    const owner = await app.createOrg()
    const body = { amountCents: 1_500, method: 'direct' }
    const [, , card] = await Promise.all([
      app.call('POST', `${base}/deposit`, { as: owner, json: body }),
      app.call('POST', `${base}/deposit`, { as: owner, json: body }),
      depositByCard(owner, 2_500),
    ])
    // As the previous version posts a deposit.
    await app.db.transaction({ orgId: owner.orgId }, async (db) => {
      const entry = { type: 'deposit', amountCents: 700n, notes: 'Direct deposit' } as const
      await postEntries(db, await lockAccount(db, owner.orgId), [entry])
    })
    const [{ items }] = await Promise.all([get(owner, '/receipts'), get(owner, '/receipts'), get(owner, '/receipts')])
    const label = owner.orgId.slice(-8).toUpperCase()
    assert.deepEqual(
      items.map(({ number }: Json) => number),
      [4, 3, 2, 1].map((number) => `${label}-000${number}`),
    )
    const [old] = items
    assert.deepEqual([old.kind, old.paidCents, old.creditedCents], ['direct', 0, 700])
    assert.equal(sum(items, 'creditedCents'), 6_200)
    assert.equal(sum(items, 'paidCents'), 2_500)
    const ledger = await listLedger(app, owner)
    assert.deepEqual(
      new Set(ledger.map(({ receiptId }) => receiptId)),
      new Set(items.map(({ paymentIntentId }: Json) => paymentIntentId)),
      'each deposit has one receipt',
    )
    assert.ok(ledger.every(({ paymentIntentId }) => paymentIntentId === undefined || paymentIntentId === card))
    const { html } = await pageOf(owner, `/receipts/${encodeURIComponent(old.paymentIntentId)}`)
    assert.match(html, /\$7\.00 added on .*Prepaid balance.*Amount paid.*\$0\.00.*without a payment/s)
    assert.doesNotMatch(html, /Payment ID|direct:/)
    const german = await pdfOf(owner, `/receipts/${old.paymentIntentId}`, 'language=de')
    assert.match(german.text.join(''), /7,00.*hinzugefügt am.*ohne Zahlung/s)
    const stranger = await app.createOrg()
    const foreign = await app.call('GET', `${base}/receipts/${old.paymentIntentId}`, { as: stranger })
    assert.equal(foreign.status, 404)
    const statement = await statementOf(owner, thisMonth)
    assert.deepEqual([statement.depositsCents, statement.planPayments], [6_200, []])
    await assertExact(app, owner)
  })

  test('of a plan without credit show the payment, once, and change neither balance nor statement sums', async () => {
    const owner = await app.createOrg()
    const json = { planId: 'storage' }
    const { body } = await app.call('POST', `${base}/subscriptions/checkout`, { as: owner, json })
    const session = stripe.pay(body.data.sessionId)
    const cycle = { subscription: session.subscription, amount_paid: 595, billing_reason: 'subscription_cycle' }
    const first = { ...cycle, id: 'in_storage_1', payment_intent: 'pi_storage_1' }
    // The invoice arrives before the checkout says whose it is.
    await sendEvent('invoice.paid', first)
    await sendEvent('checkout.session.completed', session)
    stripe.invoicePayments.set('in_storage_2', 'pi_storage_2')
    const later = { ...cycle, id: 'in_storage_2', amount_paid: 600 }
    const changes = [
      ['invoice.payment_succeeded', first],
      ['invoice.paid', later],
      ['invoice.payment_succeeded', later],
      ['invoice.paid', { ...cycle, id: 'in_storage_3', amount_paid: undefined, payment_intent: 'pi_storage_3' }],
      ['charge.refunded', { id: 'ch_1', payment_intent: 'pi_storage_1', amount_refunded: 595 }],
    ] as const
    await Promise.all(changes.map(([type, object]) => sendEvent(type, object)))
    await app.settled()
    const { items } = await get(owner, '/receipts')
    assert.deepEqual(
      items.map(({ paymentIntentId, kind, planId, paidCents, creditedCents, number }: Json) => [
        paymentIntentId,
        [kind, planId, paidCents, creditedCents, number.slice(-4)],
      ]),
      [
        ['pi_storage_2', ['plan', 'storage', 600, 0, '0002']],
        ['pi_storage_1', ['plan', 'storage', 595, 0, '0001']],
      ],
    )
    const { html } = await pageOf(owner, '/receipts/pi_storage_1')
    assert.match(html, /Plan Storage, one month.*Amount paid.*\$5\.95/s)
    assert.doesNotMatch(html, /of credit/)
    const { planPayments, openingBalanceCents, closingBalanceCents, entries } = await statementOf(owner, thisMonth)
    assert.deepEqual([openingBalanceCents, closingBalanceCents, entries], [0, 0, []])
    assert.equal(sum(planPayments, 'paidCents'), 1_195)
    const { balance } = await assertExact(app, owner)
    assert.equal(balance.balanceCents, 0)
  })

  test('of a plan shows the price that was paid, the plan and its credit; the statement of the month names it', async () => {
    const owner = await app.createOrg()
    const { body } = await app.call('POST', `${base}/subscriptions/checkout`, { as: owner, json: { planId: 'pro' } })
    const session = stripe.pay(body.data.sessionId)
    await sendEvent('checkout.session.completed', session)
    const paid = { id: 'in_1', subscription: session.subscription, amount_paid: 2_380, payment_intent: 'pi_plan' }
    await sendEvent('invoice.paid', { ...paid, billing_reason: 'subscription_create' })
    const receipt = await get(owner, '/receipts/pi_plan')
    assert.deepEqual(
      [receipt.kind, receipt.planId, receipt.paidCents, receipt.creditedCents],
      ['plan', 'pro', 2_380, 2_000],
    )
    const { html } = await pageOf(owner, '/receipts/pi_plan')
    assert.match(html, /Plan Pro, one month.*\$23\.80.*Amount paid.*The plan added \$20\.00 of credit/s)
    assert.match(html, /Example Hosting Ltd\..*GB123456789/s)
    const german = await pdfOf(owner, '/receipts/pi_plan', 'language=de')
    assert.match(german.text.join(''), /Zahlungsbeleg.*Tarif Pro, ein Monat.*23,80/s)
    const { planPayments, adjustmentsCents } = await statementOf(owner, thisMonth)
    assert.deepEqual(
      planPayments.map(({ receiptNumber, planId, paidCents }: Json) => [receiptNumber, planId, paidCents]),
      [[receipt.number, 'pro', 2_380]],
    )
    assert.equal(adjustmentsCents, 2_000)
    const statement = await pageOf(owner, `/statements/${thisMonth}`)
    assert.match(statement.html, /Payments for plans.*Plan Pro, one month.*\$23\.80/s)
  })
})
