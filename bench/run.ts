// `npm run bench` runs the benchmarks of the platform; `npm run bench -- NAME` runs bench/NAME.ts.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { once } from 'node:events'
import { loadCore, wholeMachine } from './harness.ts'

const names = process.argv.slice(2).length > 0 ? process.argv.slice(2) : ['http', 'memory']
for (const name of names) {
  const script = new URL(`${name}.ts`, import.meta.url).pathname
  if (!existsSync(script)) {
    console.error(`There is no benchmark ${name}.`)
    process.exit(2)
  }
  // The load generator and the PostgreSQL that it starts stay off the core of the server under test. On a single core,
  // parallel garbage collection threads would wait for each other.
  const pinned = ['taskset', '-c', loadCore, process.execPath, '--single-threaded-gc']
  const [command = '', ...args] = wholeMachine.has(name) ? [process.execPath] : pinned
  const env = { ...process.env, ...(wholeMachine.has(name) && { BENCH_WHOLE_MACHINE: '1' }) }
  const child = spawn(command, [...args, script], { stdio: 'inherit', env })
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) process.exit(1)
}
