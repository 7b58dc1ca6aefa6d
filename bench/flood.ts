// A process of bench/connectors.ts, so that its collections of garbage do not stop the clock of what is measured. It
// sends events of Slack at a steady rate to each URL that it is told, and then says so.
import { Pool } from 'undici'
import { atSteadyRate } from './harness.ts'
import { slackEvent } from './slack-events.ts'

export interface Flood {
  url: string
  /** The answers that are no fault. */
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
