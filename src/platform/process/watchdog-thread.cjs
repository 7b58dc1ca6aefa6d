// The thread of watchdog.ts. CommonJS, because a thread with the TypeScript loader takes twice the memory.
'use strict'
const { writeSync } = require('node:fs')
const { workerData } = require('node:worker_threads')

const slotBytes = 80
const uuidLength = 36
const [beatAt, stopAt, debuggerAt] = [0, 1, 2]
const kinds = { t: 'turn', c: 'tool', j: 'job', d: 'delivery' }
const shownUnits = 100
const { state, units, seconds } = workerData

const unitsUnderWay = () => {
  const bytes = Buffer.from(units)
  const found = []
  for (let at = 0; at < bytes.length; at += slotBytes) {
    if (bytes[at] === 0) continue
    const text = bytes.latin1Slice(at, at + 1 + 2 * uuidLength)
    const orgId = text.slice(1, 1 + uuidLength).trim()
    found.push({ kind: kinds[text[0]], id: text.slice(1 + uuidLength).trim(), orgId: orgId === '' ? null : orgId })
  }
  return found
}

const end = () => {
  const found = unitsUnderWay()
  const line = {
    level: 'fatal',
    time: new Date().toISOString(),
    msg: `the event loop has not turned for ${seconds} s, the process ends`,
    stalledSeconds: seconds,
    unitCount: found.length,
    units: found.slice(0, shownUnits),
  }
  try {
    writeSync(2, `${JSON.stringify(line)}\n`)
  } catch {
    // Without a reader of standard error, the process must still end.
  }
  try {
    process.kill(process.pid, 'SIGALRM')
    Atomics.wait(state, stopAt, 0, 2_000)
  } catch {
    // Windows does not have this signal.
  }
  process.kill(process.pid, 'SIGKILL')
}

let lastBeat = -1
let missed = 0
while (Atomics.wait(state, stopAt, 0, 1_000) === 'timed-out') {
  const beat = Atomics.load(state, beatAt)
  missed = beat === lastBeat && Atomics.load(state, debuggerAt) === 0 ? missed + 1 : 0
  lastBeat = beat
  if (missed >= seconds) {
    end()
    break
  }
}
