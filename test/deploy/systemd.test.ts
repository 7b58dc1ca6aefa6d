import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'

const unit = await readFile(new URL('../../deploy/systemd/atrium@.service', import.meta.url), 'utf8')

/** The settings of a section, by name. */
const settingsOf = (section: string): Map<string, string> => {
  const [, text = ''] = new RegExp(`^\\[${section}\\]\\n([^]*?)(?=^\\[|(?![^]))`, 'm').exec(unit) ?? []
  return new Map(Array.from(text.matchAll(/^(\w+)=(.*)$/gm), ([, name = '', value = '']) => [name, value]))
}

test('the unit sends SIGTERM to the main process alone, which needs its child processes for the work in progress', () => {
  const service = settingsOf('Service')
  assert.equal(service.get('KillMode'), 'mixed')
  assert.ok(Number(service.get('TimeoutStopSec')) > 28, 'after 25 s for work in progress and 3 s to close')
})

test('the unit starts Atrium again however often the database cannot be reached', () => {
  assert.equal(settingsOf('Service').get('Restart'), 'always')
  assert.equal(settingsOf('Unit').get('StartLimitIntervalSec'), '0')
})
