import assert from 'node:assert/strict'
import { test } from 'node:test'
import { totpStepOf } from './totp.ts'

// RFC 6238, appendix B: the last six of the eight digits.
const secret = '12345678901234567890'
const vectors: [seconds: number, code: string][] = [
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
]

for (const [seconds, code] of vectors) {
  test(`computes the code ${code} of second ${seconds}`, () => {
    assert.equal(totpStepOf(secret, code, seconds * 1000), Math.floor(seconds / 30))
  })
}

test('accepts a code one step early and late, but not two', () => {
  const step = Math.floor(1_234_567_890 / 30)
  const during = (shift: number): number | undefined => totpStepOf(secret, '005924', (step + shift) * 30_000)
  assert.deepEqual([-2, -1, 0, 1, 2].map(during), [undefined, step, step, step, undefined])
})

test('rejects texts that are not six digits', () => {
  for (const code of ['', '05924', '0005924', '00592４', 'abcdef']) {
    assert.equal(totpStepOf(secret, code, 1_234_567_890_000), undefined)
  }
})
