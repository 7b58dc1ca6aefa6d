import { createHmac } from 'node:crypto'

export const slackSecret = 'a signing secret of Slack'

let count = 0
/** Reserves unused event numbers and returns the first. */
export const reserve = (numbers: number): number => {
  count += numbers
  return count - numbers
}

/** A signed Slack event with this number, or with the next unused one. */
export const slackEvent = (n = (count += 1)): { body: string; headers: Record<string, string> } => {
  const body = JSON.stringify({
    token: 'verification',
    team_id: 'T0001',
    api_app_id: 'A0001',
    type: 'event_callback',
    event_id: `Ev${n}`,
    event_time: 1_700_000_000,
    authorizations: [{ team_id: 'T0001', user_id: 'U0BOT', is_bot: true }],
    event: {
      type: 'message',
      channel: `C${n % 100}`,
      channel_type: 'channel',
      user: 'U0001',
      text: 'What did we decide about the launch?',
      ts: `1700000000.${String(n).padStart(6, '0')}`,
    },
  })
  const stamp = String(Math.floor(Date.now() / 1_000))
  const signature = createHmac('sha256', slackSecret).update(`v0:${stamp}:${body}`).digest('hex')
  const headers = {
    'content-type': 'application/json',
    'x-slack-request-timestamp': stamp,
    'x-slack-signature': `v0=${signature}`,
  }
  return { body, headers }
}
