import { decodeCursor, encodeCursor } from '../../platform/http/cursor.ts'
import type { Actor } from '../../identity/actor.ts'
import { apiPrefix } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { CursorQuery, ok, Success } from '../../platform/http/schemas.ts'
import { documentResponse, DocumentQuery, languageOf, sendDocument } from '../documents/send.ts'
import type { BillingRouteDeps } from '../deps.ts'
import { readPosted } from '../ledger/ledger.ts'
import { planNames } from '../plan-names.ts'
import { getBuyer, completeReceipts } from '../receipts/receipts.ts'
import { printStatement } from './print.ts'
import { Statement as StatementSchema, StatementList, StatementParams } from './schemas.ts'
import { getMonth, getStatement, listMonths } from './statements.ts'
import { toStatement, toSummary } from './output.ts'

const tags = ['Billing']
const base = `${apiPrefix}/billing/statements`

/** `2026-11` as 202611, for cursors. */
const positionOf = (month: string): number => Number(month.replace('-', ''))

export const registerStatementRoutes = (
  app: App,
  { config: { billing: config }, db, jobs, models, printer }: Omit<BillingRouteDeps, 'billing' | 'log' | 'secrets'>,
): void => {
  const modelName = (id: string): string => models.find(id)?.name ?? id

  const read = async ({ orgId }: Actor, text: string, now: Date) => {
    const month = getMonth(text, now)
    await completeReceipts(db, orgId)
    return readPosted({ db, jobs }, orgId, async (db) => ({
      statement: await getStatement(db, orgId, month, now),
      buyer: await getBuyer(db, orgId),
    }))
  }

  app.get(
    base,
    {
      config: { access: 'billing:read' },
      schema: {
        tags,
        summary: 'List statements',
        description:
          'Returns the calendar months (UTC) in which the balance changed or models were used, newest first, with their sums.',
        querystring: CursorQuery,
        response: { 200: Success(StatementList) },
      },
    },
    async ({ actor, query: { limit, cursor } }) => {
      const before = cursor === undefined ? Infinity : decodeCursor(cursor, ['number'])[0]
      const months = await readPosted({ db, jobs }, actor.orgId, (db) => listMonths(db, actor.orgId, new Date()))
      const left = months.filter(({ month }) => positionOf(month) < before)
      const items = left.slice(0, limit)
      const last = items.at(-1)
      const nextCursor = left.length > limit && last ? encodeCursor([positionOf(last.month)]) : null
      return ok({ items: items.map(toSummary), nextCursor })
    },
  )

  app.get(
    `${base}/:month`,
    {
      config: { access: 'billing:read', what: 'Statement' },
      schema: {
        tags,
        summary: 'Retrieve a statement',
        description:
          'Returns the changes of the balance in a calendar month (UTC), with every charge until the request. NOT_FOUND for a month that has not begun.',
        params: StatementParams,
        response: { 200: Success(StatementSchema) },
      },
    },
    async ({ actor, params }) => {
      const { statement, buyer } = await read(actor, params.month, new Date())
      return ok(toStatement(statement, { orgId: actor.orgId, seller: config.seller, buyer, modelName }))
    },
  )

  app.get(
    `${base}/:month/document`,
    {
      config: { access: 'billing:read', what: 'Statement', errors: ['SERVICE_UNAVAILABLE'] },
      schema: {
        tags,
        summary: 'Download a statement',
        description:
          'Returns the statement of a month as a PDF file or as a page, in English or German. In a PDF, characters that are neither Latin, Greek nor Cyrillic are replaced; the page has them. SERVICE_UNAVAILABLE when too many PDF files are being made.',
        params: StatementParams,
        querystring: DocumentQuery,
        response: documentResponse('The statement.'),
      },
    },
    async ({ actor, params, query: { format, language: wanted } }, reply) => {
      const { orgId } = actor
      const now = new Date()
      const { statement, buyer } = await read(actor, params.month, now)
      const language = await languageOf(db, actor, wanted)
      const context = { orgId, language, seller: config.seller, buyer, modelName, planName: planNames(config), now }
      const file = { actor, name: `statement-${statement.month}`, format }
      return sendDocument(reply, printer, file, printStatement(statement, context)) as never
    },
  )
}
