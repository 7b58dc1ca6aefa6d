import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { endsConnection, isDatabaseUnavailable, violatedConstraint } from './errors.ts'

const violation = (constraint: string): pg.DatabaseError =>
  Object.assign(new pg.DatabaseError('duplicate key', 1, 'error'), { code: '23505', constraint })

test('a violated constraint has the same name on a table and on a shard of it', () => {
  assert.equal(violatedConstraint(violation('blobs_sha256_key')), 'blobs_sha256_key')
  assert.equal(violatedConstraint(violation('blobs_sha256_key_102035')), 'blobs_sha256_key')
})

test('the name of a violated constraint of a shard is read from the message when the error has no other', () => {
  const message = 'duplicate key value violates unique constraint "blobs_sha256_key_102034"'
  const error = Object.assign(new pg.DatabaseError(message, 1, 'error'), { code: '23505' })
  assert.equal(violatedConstraint(error), 'blobs_sha256_key')
})

test('an error without a violated constraint names none', () => {
  assert.equal(violatedConstraint(Object.assign(violation('x'), { code: '40001' })), undefined)
  assert.equal(violatedConstraint(new Error('x')), undefined)
})

test('a statement that waited for a worker of Citus when the coordinator was killed may be tried again on another connection', () => {
  const internal = (message: string): pg.DatabaseError =>
    Object.assign(new pg.DatabaseError(message, 1, 'error'), { code: 'XX000' })
  const killed = internal('postmaster was shut down, exiting')
  assert.deepEqual([isDatabaseUnavailable(killed), endsConnection(killed)], [true, true])
  const other = internal('unexpected error')
  assert.deepEqual([isDatabaseUnavailable(other), endsConnection(other)], [false, false])
})
