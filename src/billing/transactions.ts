import { decodeCursor, encodeCursor } from '../platform/http/cursor.ts'
import type { ListQuery } from '../platform/http/schemas.ts'
import { toTransaction } from './account.ts'
import type { LedgerDeps } from './ledger/ledger.ts'
import { getAccount, readPosted } from './ledger/ledger.ts'
import * as queries from './ledger/queries.ts'
import type { TransactionType } from './ledger/queries.ts'

const types: readonly TransactionType[] = ['deposit', 'usage', 'refund', 'adjustment', 'platform_fee']

/**
 * A page of the ledger, newest first. Transactions are numbered without gaps, so without a filter the last page is found
 * as fast as the first. An unknown type means no filter.
 */
export const listTransactions = (
  deps: LedgerDeps,
  orgId: string,
  { limit, page, cursor, type: given }: ListQuery & { type?: string | undefined },
) =>
  readPosted(deps, orgId, async (db) => {
    const type = types.find((one) => one === given)
    const { transactionCount } = await getAccount(db, orgId)
    const total =
      type === undefined
        ? transactionCount
        : ((await queries.listTotals(db, orgId)).find((one) => one.type === type)?.count ?? 0n)
    const skipped = (page - 1) * limit
    const after = cursor === undefined ? null : BigInt(decodeCursor(cursor, ['number'])[0])
    const beforePage =
      type === undefined ? { before: transactionCount - BigInt(skipped) + 1n } : { before: null, offset: skipped }
    const position = after === null ? beforePage : { before: after }
    const found = await queries.listTransactions(db, orgId, { type, ...position, limit: limit + 1 })
    const items = found.slice(0, limit)
    const last = items.at(-1)
    const hasMore = found.length > limit
    return {
      items: items.map(toTransaction),
      page,
      limit,
      total: Number(total),
      hasMore,
      nextCursor: hasMore && last ? encodeCursor([Number(last.number)]) : null,
    }
  })
