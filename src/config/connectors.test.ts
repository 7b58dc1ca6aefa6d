import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ConfigError, parseConfig } from './config.ts'

const settingsOf = (slug: string, env: Record<string, string>) => parseConfig(env).connectors.get(slug)

describe('what the environment says about connectors', () => {
  test('is read by slug, dashes as underscores, empty ones as unset', () => {
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
    assert.deepEqual(settingsOf('github', env), {})
  })

  const wrong: [string, Record<string, string>, RegExp][] = [
    [
      'a connector that there is not',
      { CONNECTOR_GITHUBB_CLIENT_ID: 'x' },
      /CONNECTOR_GITHUBB_CLIENT_ID is not a variable of Atrium/,
    ],
    ['a setting that there is not', { CONNECTOR_GITHUB_CLIENTID: 'x' }, /CONNECTOR_GITHUB_CLIENTID is not/],
    [
      'half a client',
      { CONNECTOR_GITHUB_CLIENT_ID: 'x' },
      /CONNECTOR_GITHUB_CLIENT_ID is set but CONNECTOR_GITHUB_CLIENT_SECRET is not/,
    ],
    [
      'the other half',
      { CONNECTOR_SLACK_CLIENT_SECRET: 'planted' },
      /CONNECTOR_SLACK_CLIENT_SECRET is set but CONNECTOR_SLACK_CLIENT_ID is not/,
    ],
    ['no URL', { CONNECTOR_HTTP_BASE_URL: 'nonsense' }, /CONNECTOR_HTTP_BASE_URL must be a URL/],
    ['a URL of another kind', { CONNECTOR_JIRA_TOKEN_URL: 'file:///etc' }, /CONNECTOR_JIRA_TOKEN_URL must be a URL/],
    [
      'a URL with a user',
      { CONNECTOR_JIRA_BASE_URL: 'https://u:p@x.example' },
      /CONNECTOR_JIRA_BASE_URL must be a URL/,
    ],
  ]
  for (const [what, env, message] of wrong) {
    test(`with ${what} stops the start, and names it`, () => {
      assert.throws(
        () => parseConfig(env),
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
