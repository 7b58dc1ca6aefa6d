import { UsageError, labelled } from './command.ts'
import type { Arguments, Command, CommandContext, Output } from './command.ts'
import { verifyChain, verifyChains } from '../identity/audit/chain.ts'
import type { ChainReport, KnownHead } from '../identity/audit/chain.ts'
import { findEnds } from '../identity/audit/chain-queries.ts'
import { getOrg } from './org.ts'
import { plural } from '../platform/text/plural.ts'

const toHead = (text: string): KnownHead => {
  const [, seq = '', hash = ''] = /^(\d{1,18}):([0-9a-f]{64})$/i.exec(text) ?? []
  if (seq === '')
    throw new UsageError('--head must have the form SEQ:HASH that atrium audit head prints', 'audit verify')
  return { seq: BigInt(seq), hash: hash.toLowerCase() }
}

const lineOf = ({ orgId, entries, seq, hash, unsealed, broken }: ChainReport): string => {
  const rest = unsealed === 0 ? '' : `, ${unsealed} unsealed`
  if (!broken) return `✓ ${orgId}  ${plural(entries, 'entry', 'entries')}, head ${seq}:${hash}${rest}`
  return `✗ ${orgId}  broken at entry ${broken.seq}${broken.entryId === null ? '' : ` (${broken.entryId})`}: ${broken.reason}`
}

const verify = async ({ db }: CommandContext, { options }: Arguments): Promise<Output> => {
  const { org, head } = options
  if (head !== undefined && org === undefined) throw new UsageError('--head requires --org', 'audit verify')
  const known = head === undefined ? undefined : toHead(head)
  const reports: ChainReport[] = []
  if (org !== undefined) reports.push(await verifyChain(db, (await getOrg(db, org)).id, known))
  else for await (const report of verifyChains(db)) reports.push(report)
  const isIntact = reports.every(({ broken }) => broken === null)
  return { json: { isWhole: isIntact, orgs: reports }, lines: reports.map(lineOf), ok: isIntact }
}

const head = async ({ db }: CommandContext, { options }: Arguments): Promise<Output> => {
  const { id: orgId } = await getOrg(db, options['org'] ?? '')
  const ends = await findEnds(db, orgId)
  const isSealed = ends !== undefined && ends.seq !== null
  const seq = isSealed ? Number(ends.seq) : 0
  const hash = isSealed ? ends.hash.toString('hex') : '0'.repeat(64)
  const unsealed = ends?.unsealed ?? 0
  return {
    json: { orgId, seq, hash, unsealed },
    lines: labelled([
      ['Head', `${seq}:${hash}`],
      ['Unsealed entries', String(unsealed)],
    ]),
  }
}

/** Commands for the hash chain of the audit log. */
export const auditCommands: Command[] = [
  {
    words: 'audit verify',
    summary: 'Verify that no sealed entry of the audit log was changed, removed or inserted',
    options: {
      org: { value: 'ID', description: 'the org; default: all orgs' },
      head: { value: 'SEQ:HASH', description: 'a head that atrium audit head printed earlier; requires --org' },
    },
    details: 'Exit code 1 when a chain is broken. The output names the first entry that does not match.',
    needs: 'database',
    run: verify,
  },
  {
    words: 'audit head',
    summary: "Print the head of an org's audit log, to store it outside of the database",
    options: { org: { value: 'ID', description: 'the org', required: true } },
    details:
      'An attacker who can write to the database can replace a whole chain, but not a head that is stored elsewhere.',
    needs: 'database',
    run: head,
  },
]
