import { UsageError } from './command.ts'
import type { Arguments, Command, CommandContext, Output } from './command.ts'
import { quota, quotaNames } from '../config/quotas.ts'
import type { QuotaName } from '../config/quotas.ts'
import { Mistake } from '../config/values.ts'
import { systemActor } from '../identity/actor.ts'
import { audit } from '../identity/audit/audit.ts'
import { findOrg } from '../identity/members/org-queries.ts'
import type { OrgRow } from '../identity/members/org-queries.ts'
import type { Db } from '../platform/database/database.ts'
import { notFound } from '../platform/http/errors.ts'
import { isUuid } from '../platform/ids.ts'
import { createLog } from '../platform/process/log.ts'
import { formatBytes } from '../quotas/message.ts'
import * as queries from '../quotas/queries.ts'
import { createQuotas } from '../quotas/quotas.ts'
import type { QuotaRow } from '../quotas/quotas.ts'

const getOrg = async (db: Db, id: string): Promise<OrgRow> => {
  const org = isUuid(id) ? await findOrg(db, id) : undefined
  if (!org) throw notFound('Org')
  return org
}

/** `storedBytes` as an option: `stored-bytes`. */
const optionOf = (name: QuotaName): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** `default` takes the org's own limit away again. */
const limitOf = (text: string, name: QuotaName): number | null | 'default' => {
  if (text.toLowerCase() === 'default') return 'default'
  const limit = quota(text)
  if (limit instanceof Mistake) {
    throw new UsageError(`--${optionOf(name)} must be a whole number, unlimited or default`, 'org quota')
  }
  return limit
}

const changesOf = ({ options }: Arguments): [QuotaName, number | null | 'default'][] =>
  quotaNames.flatMap((name) => {
    const text = options[optionOf(name)]
    const change: [QuotaName, number | null | 'default'][] = text === undefined ? [] : [[name, limitOf(text, name)]]
    return change
  })

const lineOf = ({ name, limit, used, unit, source }: QuotaRow): string => {
  const amount = (value: number): string => (unit === 'bytes' ? formatBytes(value) : value.toLocaleString('en-US'))
  const most = limit === null ? 'unlimited' : amount(limit)
  const by = source === 'operator' ? ', set for this org' : ''
  return `${name.padEnd(12)}  ${amount(used)} of ${most}${by}`
}

const orgQuota = async ({ config, db }: CommandContext, args: Arguments): Promise<Output> => {
  const changes = changesOf(args)
  const org = await getOrg(db, args.options['org'] ?? '')
  if (changes.length > 0) {
    await db.transaction('all orgs', async (db) => {
      for (const [name, limit] of changes) {
        if (limit === 'default') await queries.deleteOverride(db, org.id, name)
        else await queries.setOverride(db, org.id, name, limit)
      }
      const details = Object.fromEntries(changes.map(([name, limit]) => [name, limit ?? 'unlimited']))
      await audit(db, systemActor(org.id, 'atrium command'), 'quota.changed', { type: 'quota', id: null, details })
    })
  }
  const { stripe, plans } = config.billing
  const takesPayments = stripe !== undefined
  const log = createLog('silent')
  const quotas = await createQuotas({ db, log, defaults: config.quotas, plans, takesPayments }).list(org.id)
  return { json: { org: { id: org.id, name: org.name }, quotas }, lines: quotas.map(lineOf) }
}

const usageVerify = async ({ db }: CommandContext, { options }: Arguments): Promise<Output> => {
  const repair = options['repair'] === 'true'
  // It knows of jobs, and jobs are much to load for every command that there is.
  const { verifyAllUsage, verifyUsage } = await import('../quotas/verify.ts')
  const wanted = options['org']
  const { orgs, drifts } =
    wanted === undefined
      ? await verifyAllUsage(db, { repair })
      : { orgs: 1, drifts: await verifyUsage(db, (await getOrg(db, wanted)).id, { repair }) }
  return {
    json: { orgs, drifts, repaired: repair },
    lines:
      drifts.length === 0
        ? [`The usage of ${orgs} orgs is counted correctly.`]
        : drifts.map(({ orgId, quota, day, counted, found }) => {
            const what = day === undefined ? quota : `${quota} of ${day}`
            return `${repair ? 'repaired' : '✗'} ${orgId}  ${what}: ${counted} counted, ${found} found`
          }),
    ok: repair || drifts.length === 0,
  }
}

const limit = (what: string) => ({ value: 'N', description: `${what}: a whole number, unlimited or default` })

/** Quotas of orgs, and the counters behind them. */
export const quotaCommands: Command[] = [
  {
    words: 'org quota',
    summary: 'Show the quotas of an org, or set limits of its own',
    options: {
      org: { value: 'ID', description: 'the org', required: true },
      'stored-bytes': limit('the most bytes in files'),
      files: limit('the most files, folders and links'),
      'events-kept': limit('the most webhook events kept'),
      webhooks: limit('the most webhooks'),
      agents: limit('the most agents'),
      connections: limit('the most connections'),
    },
    details: "A limit of an org goes before its plan's; default removes it. Running servers follow within 5 seconds.",
    needs: 'database',
    run: orgQuota,
  },
  {
    words: 'usage verify',
    summary: 'Compare the usage counters of all orgs with what is stored',
    options: {
      org: { value: 'ID', description: 'only this one' },
      repair: { value: '', description: 'correct what is off' },
    },
    details:
      'Reads every file and event record, beside running servers. Exit code 1 when a counter is off and not repaired. A daily job repairs, too.',
    needs: 'database',
    run: usageVerify,
  },
]
