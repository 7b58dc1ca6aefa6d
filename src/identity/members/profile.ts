import type { Database } from '../../platform/database/database.ts'
import { notFound } from '../../platform/http/errors.ts'
import type { Actor } from '../actor.ts'
import { audit } from '../audit/audit.ts'
import { cleanName } from '../names.ts'
import { recordMember } from './events.ts'
import * as queries from './queries.ts'

/** Changes the name of the caller in the org of the call; in other orgs the person keeps theirs. Returns the name. */
export const renameSelf = (db: Database, actor: Actor, wanted: string): Promise<string> =>
  db.transaction(actor, async (db) => {
    const { orgId, userId } = actor
    const name = cleanName(wanted)
    const member = await queries.lockMemberOfUser(db, orgId, userId)
    if (!member) throw notFound('Member')
    const { id, name: before } = member
    if (name === before) return name
    await queries.renameMember(db, orgId, id, name)
    await queries.bumpAuthority(db, orgId)
    await audit(db, actor, 'member.renamed', { type: 'member', id, details: { from: before, to: name } })
    await recordMember(db, actor, 'member.updated', { memberId: id, userId, name, changed: ['name'] })
    return name
  })
