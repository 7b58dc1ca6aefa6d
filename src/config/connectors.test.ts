import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readConfig } from '../read-config.ts'
import { ConfigError } from './config.ts'

const settingsOf = (slug: string, env: Record<string, string>) => readConfig(env).connectors.get(slug)

describe('connector variables', () => {
  test('connector settings are read by slug, with dashes as underscores and empty values as unset', () => {
    const env = {
      CONNECTOR_GOOGLE_DRIVE_CLIENT_ID: ' id ',
      CONNECTOR_GOOGLE_DRIVE_CLIENT_SECRET: 'secret',
      CONNECTOR_GOOGLE_DRIVE_BASE_URL: 'http://127.0.0.1:9/path/?a=1',
      CONNECTOR_GOOGLE_DRIVE_AUTHORIZE_URL: 'https://sso.example.com/authorize?tenant=1',
      CONNECTOR_GOOGLE_DRIVE_TOKEN_URL: '',
    }
    assert.deepEqual(settingsOf('google-drive', env), {
      clientId: 'id',
      clientSecret: 'secret',
      baseUrl: 'http://127.0.0.1:9',
      authorizeUrl: 'https://sso.example.com/authorize?tenant=1',
    })
    assert.equal(settingsOf('github', env), undefined)
  })

  const invalid: [string, Record<string, string>, RegExp][] = [
    [
      'an unknown connector',
      { CONNECTOR_GITHUBB_TOKEN_URL: 'https://example.com' },
      /CONNECTOR_GITHUBB_\* names no connector; connectors are .*github/,
    ],
    ['an unknown setting', { CONNECTOR_GITHUB_CLIENTID: 'x' }, /CONNECTOR_GITHUB_CLIENTID is not a variable of Atrium/],
    [
      'a client ID without a client secret',
      { CONNECTOR_GITHUB_CLIENT_ID: 'x' },
      /CONNECTOR_GITHUB_CLIENT_ID is set but CONNECTOR_GITHUB_CLIENT_SECRET is not/,
    ],
    [
      'a client secret without a client ID',
      { CONNECTOR_SLACK_CLIENT_SECRET: 'planted' },
      /CONNECTOR_SLACK_CLIENT_SECRET is set but CONNECTOR_SLACK_CLIENT_ID is not/,
    ],
    ['a malformed URL', { CONNECTOR_HTTP_BASE_URL: 'nonsense' }, /CONNECTOR_HTTP_BASE_URL must be a URL/],
    ['a URL of another scheme', { CONNECTOR_JIRA_TOKEN_URL: 'file:///etc' }, /CONNECTOR_JIRA_TOKEN_URL must be a URL/],
    [
      'a URL with credentials',
      { CONNECTOR_JIRA_BASE_URL: 'https://u:p@x.example' },
      /CONNECTOR_JIRA_BASE_URL must be a URL/,
    ],
  ]
  for (const [what, env, message] of invalid) {
    test(`a connector variable with ${what} prevents the start and is named in the error`, () => {
      assert.throws(
        () => readConfig(env),
        (error: unknown) => {
          assert.ok(error instanceof ConfigError)
          assert.equal(error.mistakes.length, 1)
          assert.match(error.message, message)
          assert.ok(!error.message.includes('planted'))
          return true
        },
      )
    })
  }
})
