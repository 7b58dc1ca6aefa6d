import assert from 'node:assert/strict'
import { test } from 'node:test'
import { splitStatements } from './split-statements.ts'

test('a script is split at semicolons outside of comments, quotes and dollar quotes', () => {
  const script = `
    -- a comment; with a semicolon and a 'quote
    select 'one; it''s', "a;b" /* not; here */;
    create function f() returns integer language plpgsql as $$ begin return 1; end $$;
    do $body$ begin perform '$$;'; end $body$;
    select 4 - 2 / 1, $1`
  assert.deepEqual(splitStatements(script), [
    `select 'one; it''s', "a;b"`,
    'create function f() returns integer language plpgsql as $$ begin return 1; end $$',
    `do $body$ begin perform '$$;'; end $body$`,
    'select 4 - 2 / 1, $1',
  ])
})

test('a script of comments and white space has no statement', () => {
  assert.deepEqual(splitStatements(' -- nothing;\n ; /* ; */ '), [])
})
