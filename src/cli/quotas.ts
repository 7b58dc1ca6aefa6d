import { UsageError } from './command.ts'
import type { Arguments, Command, CommandContext, Output } from './command.ts'
import { quota, quotaNames } from '../config/quotas.ts'
import type { QuotaName } from '../config/quotas.ts'
import { Mistake } from '../config/values.ts'
import { systemActor } from '../identity/actor.ts'
import { audit } from '../identity/audit/audit.ts'
import { getOrg } from './org.ts'
import { plural } from '../platform/text/plural.ts'
import { createLog } from '../platform/process/log.ts'
import { formatBytes } from '../quotas/message.ts'
import * as queries from '../quotas/queries.ts'
import { createQuotas } from '../quotas/quotas.ts'
import type { QuotaRow } from '../quotas/quotas.ts'

/** `storedBytes` as an option: `stored-bytes`. */
const optionOf = (name: QuotaName): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** `default` removes the org's own limit. */
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
  const shownLimit = limit === null ? 'unlimited' : amount(limit)
  const by = source === 'operator' ? ', set for this org' : ''
  return `${name.padEnd(12)}  ${amount(used)} of ${shownLimit}${by}`
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
  // The module imports the job library, which other commands do not need to load.
  const { verifyAllUsage, verifyUsage } = await import('../quotas/verify.ts')
  const orgId = options['org']
  const { orgs, drifts } =
    orgId === undefined
      ? await verifyAllUsage(db, { repair })
      : { orgs: 1, drifts: await verifyUsage(db, (await getOrg(db, orgId)).id, { repair }) }
  return {
    json: { orgs, drifts, repaired: repair },
    lines:
      drifts.length === 0
        ? [`The usage counters of ${plural(orgs, 'org')} are correct.`]
        : drifts.map(({ orgId, quota, day, counted, found }) => {
            const what = day === undefined ? quota : `${quota} of ${day}`
            return `${repair ? '✓ repaired' : '✗'} ${orgId}  ${what}: ${counted} counted, ${found} found`
          }),
    ok: repair || drifts.length === 0,
  }
}

const limit = (what: string) => ({ value: 'N', description: `limit of ${what}: a whole number, unlimited or default` })

/** Commands for the quotas of orgs and the usage counters. */
export const quotaCommands: Command[] = [
  {
    words: 'org quota',
    summary: 'Show or set the quotas of an org',
    options: {
      org: { value: 'ID', description: 'the org', required: true },
      'stored-bytes': limit('bytes in files'),
      files: limit('files, folders and links'),
      'events-kept': limit('webhook events kept'),
      webhooks: limit('webhooks'),
      agents: limit('agents'),
      connections: limit('connections'),
    },
    details:
      "An org's own limit takes precedence over its plan; default removes it. Servers apply changes within 5 seconds.",
    needs: 'database',
    run: orgQuota,
  },
  {
    words: 'usage verify',
    summary: 'Verify the usage counters of all orgs',
    options: {
      org: { value: 'ID', description: 'the org; default: all orgs' },
      repair: { value: '', description: 'correct wrong counters' },
    },
    details:
      'Counts every file and event record. Servers can keep running. Exit code 1 when a counter is wrong and not repaired. A daily job repairs counters as well.',
    needs: 'database',
    run: usageVerify,
  },
]
