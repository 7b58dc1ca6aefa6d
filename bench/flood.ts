// Sends Slack events at a steady rate to each URL that its parent, bench/connectors.ts, passes. A process of its own, so
// that its garbage collection does not delay the measurements of the parent.
import { Pool } from 'undici'
import { atSteadyRate } from './harness.ts'
import { slackEvent } from './slack-events.ts'

export interface Flood {
  url: string
  /** Expected status codes. */
  expect: number[]
  perSecond: number
  forSeconds: number
}

process.on('message', ({ url, expect, perSecond, forSeconds }: Flood) => {
  const { origin, pathname: path } = new URL(url)
  const pool = new Pool(origin, { connections: 10 })
  const post = async (): Promise<void> => {
    const { body, headers } = slackEvent()
    const answer = await pool.request({ method: 'POST', path, body, headers })
    await answer.body.dump()
    if (!expect.includes(answer.statusCode)) throw new Error(`${path}: ${answer.statusCode}`)
  }
  const flood = async (): Promise<void> => {
    await atSteadyRate(perSecond, forSeconds, post)
    await pool.close()
    process.send?.('done')
  }
  void flood()
})
