import assert from 'node:assert/strict'
import { removeExpired } from '../../../src/files/resumable/resumable.ts'
import { sql } from '../../../src/platform/database/database.ts'
import { newId } from '../../../src/platform/ids.ts'
import { generateKey, hashKey } from '../../../src/platform/key-format.ts'
import type { TestActor } from '../../harness.ts'
import { ask } from '../uploads/tus.ts'
import { dav, pickTarget } from './dav-steps.ts'
import { answers, call, pickItem } from './history.ts'
import type { History, Step, StepKinds } from './history.ts'
import { found, writes } from './model.ts'
import type { Person } from './model.ts'

const mark = async (history: History, step: Step, person: Person): Promise<void> => {
  const item = pickItem(history, step.on)
  if (!item) return
  const isAdded = step.n % 3 > 0
  const answer = await call(history, person, isAdded ? 'PUT' : 'DELETE', { path: `/${item.id}/favorite` })
  if (!answers(answer, found(history.model, person, item) ? 200 : 404, 'favorite')) return
  if (isAdded) person.favorites.add(item.id)
  else person.favorites.delete(item.id)
}

/** Locks a file or folder for a day. Locks keep others from writing by WebDAV as long as they exist. */
const lock = async (history: History, step: Step, person: Person): Promise<void> => {
  const target = pickTarget(history, person, step.on)
  const { item } = target
  if (!item || item.source === 'link' || !writes(history.model, person, item)) return
  const body =
    '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>'
  const headers = { depth: 'infinity', timeout: 'Infinite' }
  answers(await dav(history, person, 'LOCK', { ...target, headers, body }), 200, 'LOCK')
}

/** The same person as a member again, with a new API key. */
const addAgain = async (
  { app: { db, config } }: History,
  { actor, role }: Person,
  inWorkspace: boolean,
): Promise<TestActor> => {
  const { orgId, userId, workspaceId } = actor
  const apiKeyId = newId()
  const key = generateKey(config.keyEnvironment)
  await db.transaction({ orgId }, async (db) => {
    await db.execute(sql`
      insert into members (org_id, id, user_id, name, role) values (${orgId}, ${newId()}, ${userId}, 'User', ${role})`)
    if (inWorkspace) {
      await db.execute(sql`
        insert into workspace_members (org_id, workspace_id, user_id) values (${orgId}, ${workspaceId}, ${userId})`)
    }
    await db.execute(sql`
      insert into api_keys (org_id, id, user_id, name, prefix, last4, hash, scopes)
      values (${orgId}, ${apiKeyId}, ${userId}, 'test', 'atr_test_', ${key.slice(-4)}, ${hashKey(key)}, '{}')`)
  })
  return { ...actor, key, apiKeyId }
}

/**
 * A member leaves the org, after which they are added again, or another person takes their place. What they had ends for
 * good: shares, grants, favorites, locks and unfinished uploads. What they made stays.
 */
const leave = async (history: History, step: Step, person: Person): Promise<void> => {
  const { app, model, orgId } = history
  const [owner] = model.people
  if (!owner || person === owner) return
  if (step.n % 2 === 0) await lock(history, step, person)
  const { actor, role } = person
  const member = await app.db.row<{ id: string }>(sql`
    select id from members where org_id = ${orgId} and user_id = ${actor.userId}`)
  const removed = await app.call('DELETE', `/api/v1/members/${member?.id}`, { as: owner.actor })
  assert.equal(removed.status, 200, removed.text)
  assert.equal((await call(history, person, 'GET', { path: '' })).status, 401)
  const left = await app.db.row<{ locks: number; favorites: number; grants: number }>(sql`
    select (select count(*)::int from webdav_locks where org_id = ${orgId} and created_by = ${actor.userId}) as locks,
      (select count(*)::int from file_favorites where org_id = ${orgId} and user_id = ${actor.userId}) as favorites,
      (select count(*)::int from folder_grants where org_id = ${orgId} and user_id = ${actor.userId}) as grants`)
  assert.deepEqual(left, { locks: 0, favorites: 0, grants: 0 })
  person.favorites.clear()
  for (const [folder, grants] of model.grants) {
    const others = grants.filter(({ kind, subject }) => kind !== 'user' || subject !== actor.userId)
    model.grants.set(folder, others)
  }
  for (const share of model.shares) share.isEnded ||= share.creator === person

  person.isInWorkspace = step.to % 2 === 0
  const isSame = step.to % 4 < 2
  person.actor = isSame
    ? await addAgain(history, person, person.isInWorkspace)
    : await app.createUser(owner.actor, role, { inWorkspace: person.isInWorkspace })
  // The hourly job, which gives back what unfinished uploads had reserved.
  await removeExpired(app.deps)
  for (const upload of model.uploads) {
    if (upload.owner !== person) continue
    const { status } = await ask(app, person.actor, upload.path)
    if (!isSame) assert.equal(status, 404)
    if (upload.state === 'open') {
      if (isSame) assert.equal(status, 410, 'an unfinished upload ends')
      const id = upload.path.split('/').at(-1)
      await app.db.execute(sql`delete from uploads where org_id = ${orgId} and id = ${id}`)
    }
    if (upload.state === 'open' || !isSame) upload.state = 'ended'
  }
}

export const leavingSteps: StepKinds = { mark, leave }
