import { UsageError, labelled } from './command.ts'
import type { Arguments, Command, CommandContext, Output } from './command.ts'
import { verifyChain, verifyChains } from '../identity/audit/chain.ts'
import type { ChainReport, KnownHead } from '../identity/audit/chain.ts'
import { findEnds } from '../identity/audit/chain-queries.ts'
import { findOrg } from '../identity/members/org-queries.ts'
import type { Db } from '../platform/database/database.ts'
import { notFound } from '../platform/http/errors.ts'
import { isUuid } from '../platform/ids.ts'

const requireOrg = async (db: Db, id: string): Promise<string> => {
  const org = isUuid(id) ? await findOrg(db, id) : undefined
  if (!org) throw notFound('Org')
  return org.id
}

const toHead = (given: string): KnownHead => {
  const [, seq = '', hash = ''] = /^(\d{1,18}):([0-9a-f]{64})$/i.exec(given) ?? []
  if (seq === '') throw new UsageError('--head must be SEQ:HASH, as atrium audit head prints it', 'audit verify')
  return { seq: BigInt(seq), hash: hash.toLowerCase() }
}

const lineOf = ({ orgId, entries, seq, hash, unsealed, broken }: ChainReport): string => {
  const later = unsealed === 0 ? '' : `, ${unsealed} not sealed yet`
  if (!broken) return `✓ ${orgId}  ${entries} entries, head ${seq}:${hash}${later}`
  return `✗ ${orgId}  broken at entry ${broken.seq}${broken.entryId === null ? '' : ` (${broken.entryId})`}: ${broken.reason}`
}

const verify = async ({ db }: CommandContext, { options }: Arguments): Promise<Output> => {
  const { org, head } = options
  if (head !== undefined && org === undefined) throw new UsageError('--head needs --org', 'audit verify')
  const known = head === undefined ? undefined : toHead(head)
  const reports: ChainReport[] = []
  if (org !== undefined) reports.push(await verifyChain(db, await requireOrg(db, org), known))
  else for await (const report of verifyChains(db)) reports.push(report)
  const isWhole = reports.every(({ broken }) => broken === null)
  return { json: { isWhole, orgs: reports }, lines: reports.map(lineOf), ok: isWhole }
}

const head = async ({ db }: CommandContext, { options }: Arguments): Promise<Output> => {
  const orgId = await requireOrg(db, options['org'] ?? '')
  const ends = await findEnds(db, orgId)
  const isSealed = ends !== undefined && ends.seq !== null
  const seq = isSealed ? Number(ends.seq) : 0
  const hash = isSealed ? ends.hash.toString('hex') : '0'.repeat(64)
  const unsealed = ends?.unsealed ?? 0
  return {
    json: { orgId, seq, hash, unsealed },
    lines: labelled([
      ['Head', `${seq}:${hash}`],
      ['Not sealed yet', String(unsealed)],
    ]),
  }
}

/** The audit log as a chain of hashes. */
export const auditCommands: Command[] = [
  {
    words: 'audit verify',
    summary: 'Verify that no sealed entry of the audit log was changed, removed or inserted',
    options: {
      org: { value: 'ID', description: 'the org; all orgs when left out' },
      head: { value: 'SEQ:HASH', description: 'a head that atrium audit head printed earlier; needs --org' },
    },
    details: 'Exits with 1 and names the first entry that does not fit when the chain does not hold.',
    needs: 'database',
    run: verify,
  },
  {
    words: 'audit head',
    summary: "Print the head of an org's audit log, to be stored outside of the database",
    options: { org: { value: 'ID', description: 'the org', required: true } },
    details: 'Whoever can write to the database can rewrite a whole chain, but not one whose head is stored elsewhere.',
    needs: 'database',
    run: head,
  },
]
