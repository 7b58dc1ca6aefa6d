import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { NoPrimaryError } from '../errors.ts'

/** Where new connections go. */
export interface Server {
  readonly host: string
  readonly port: number
  /** Whether a pooler (PgBouncer) answers. Session settings and session locks do not belong to its connections. */
  readonly isPooler: boolean
  /** Whether statements may have names. A pooler that does not track them sends a name to a server that does not know it. */
  readonly hasNamedStatements: boolean
}

/** An open connection that is closed when its server is given up. */
export interface Tracked {
  readonly server: Server | undefined
  drop(error: Error): void
}

/** What a server says about itself. */
interface Answer extends Server {
  isStandby: boolean
  isReadOnly: boolean
  /** Increases with each promotion; 0 when the server does not tell. */
  timeline: number
}

interface State {
  standby: boolean
  readonly: boolean
  timeline: number
  pid: number
}

const multiHost = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^/?#]*)(.*)$/s

/** The hosts of a URL, with their ports. A single host is empty when the database has a Unix socket. */
export const hostsOf = (url: string): string[] => multiHost.exec(url)?.[2]?.split(',') ?? []

/** The URL of each host of `postgres://h1:5432,h2:5432/db?target_session_attrs=…`, without that parameter. */
export const urlsOf = (url: string): string[] => {
  const [, before = '', , after = ''] = multiHost.exec(url) ?? []
  if (before === '') return [url]
  const rest = after.replace(/([?&])target_session_attrs=[^&#]*&?/, '$1').replace(/[?&]$/, '')
  return hostsOf(url).map((host) => before + host + rest)
}

const probeTimeoutMs = 3_000
/** While no server accepts writes, requests fail at once instead of starting one probe each. */
const retryMs = 100
/** With several hosts: how often they are asked, and how often in a row the current one may fail to respond. */
const watchMs = 2_000
const maxMisses = 2

const stateText = `
  select pg_is_in_recovery() as standby, current_setting('transaction_read_only') = 'on' as readonly,
    pg_backend_pid() as pid`
// The first eight digits of the name of a WAL file are its timeline. Some managed services do not allow the functions.
const timelineText = `
  select case when pg_is_in_recovery() then 0
    else ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int end as timeline`

/** Asks a connected server for its state. The timeline is 0 on a standby and where it cannot be read. */
export const readState = async (client: pg.ClientBase): Promise<State> => {
  const { rows } = await client.query<Omit<State, 'timeline'>>(stateText)
  const timeline = await client.query<{ timeline: number }>(timelineText).then(
    (result) => result.rows[0]?.timeline ?? 0,
    () => 0,
  )
  return { ...(rows[0] as Omit<State, 'timeline'>), timeline }
}

/**
 * Whether a pooler tracks prepared statements: it then renames them, because clients share connections. Debian's
 * PgBouncer 1.18 passes names on as they are.
 */
const renamesStatements = async (client: pg.Client): Promise<boolean> => {
  const name = `atrium_${randomBytes(8).toString('hex')}`
  const text = 'select count(*)::int as own from pg_prepared_statements where name = $1'
  await client.query('begin')
  try {
    const { rows } = await client.query<{ own: number }>({ name, text, values: [name] })
    if (rows[0]?.own === 0) return true
    await client.query(`deallocate "${name}"`)
    return false
  } finally {
    await client.query('rollback')
  }
}

const ask = async (url: string, timeoutMs: number): Promise<Answer> => {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
    application_name: 'atrium-probe',
  })
  client.on('error', () => undefined)
  try {
    await client.connect()
    const { standby, readonly, timeline, pid } = await readState(client)
    // A pooler gives its clients process ids of its own.
    const isPooler = (client as pg.Client & { processID: number }).processID !== pid
    return {
      host: client.host,
      port: client.port,
      isPooler,
      hasNamedStatements: !isPooler || (await renamesStatements(client)),
      isStandby: standby,
      isReadOnly: readonly,
      timeline,
    }
  } finally {
    // Not awaited: `end` of a client that never connected would wait for the connection.
    void client.end().catch(() => undefined)
  }
}

/**
 * The servers of one URL. New connections go to the primary: the server that is not in recovery, and of several such
 * servers the one with the latest timeline. node-postgres knows neither several hosts nor `target_session_attrs`.
 */
export class Servers {
  readonly urls: string[]
  /** Connections to a replica go to a standby, of several the first that responds. */
  readonly #wants: 'primary' | 'standby'
  #current: Server | undefined
  #finding: Promise<Server> | undefined
  #failure: { error: unknown; at: number } | undefined
  /** The latest timeline that this process has seen: an old primary that returns must not be written to again. */
  #timeline = 0
  #misses = 0
  #looking = false
  #watch: NodeJS.Timeout | undefined
  readonly #tracked = new Set<Tracked>()

  constructor(url: string, wants: 'primary' | 'standby') {
    this.urls = urlsOf(url)
    this.#wants = wants
  }

  /** The server for a new connection. Rejects with a NoPrimaryError, or with the error of the only host. */
  async find(): Promise<Server> {
    if (this.#current) return this.#current
    if (this.#failure && performance.now() - this.#failure.at < retryMs) throw this.#failure.error
    this.#finding ??= this.#choose().finally(() => (this.#finding = undefined))
    return this.#finding
  }

  /** Throws when a new connection has reached a server that must not be used any more. */
  check({ standby, timeline }: State): void {
    if (standby !== (this.#wants === 'standby')) {
      throw new NoPrimaryError(`the server is ${standby ? 'a standby' : 'not a standby'}`)
    }
    if (timeline !== 0 && timeline < this.#timeline) {
      throw new NoPrimaryError('another server was promoted after this one')
    }
    this.#timeline = Math.max(this.#timeline, timeline)
  }

  /** The next connection asks the servers again. */
  forget(): void {
    this.#current = undefined
  }

  /** Checks whether the server is still the primary. It may have rejected a write for another reason, such as a full disk. */
  doubt(server: Server): void {
    if (this.#current === server) void this.#look()
  }

  /** Until the returned function is called, the connection is closed when its server is given up. */
  track(connection: Tracked): () => void {
    this.#tracked.add(connection)
    if (this.urls.length > 1) this.#watch ??= setInterval(() => void this.#look(), watchMs).unref()
    return () => {
      this.#tracked.delete(connection)
      if (this.#tracked.size > 0) return
      clearInterval(this.#watch)
      this.#watch = undefined
    }
  }

  async #askAll(): Promise<{ answers: Answer[]; errors: unknown[] }> {
    const results = await Promise.allSettled(this.urls.map((url) => ask(url, probeTimeoutMs)))
    return {
      answers: results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])),
      errors: results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : [])),
    }
  }

  #bestOf(answers: Answer[]): Answer | undefined {
    if (this.#wants === 'standby') return answers.find(({ isStandby }) => isStandby)
    return answers
      .filter(({ isStandby, timeline }) => !isStandby && (timeline === 0 || timeline >= this.#timeline))
      .toSorted((a, b) => b.timeline - a.timeline || Number(a.isReadOnly) - Number(b.isReadOnly))[0]
  }

  async #choose(): Promise<Server> {
    const { answers, errors } = await this.#askAll()
    const best = this.#bestOf(answers)
    if (!best) {
      const only = this.urls.length === 1 ? errors[0] : undefined
      const error = only ?? new NoPrimaryError(`none of the database servers is a ${this.#wants}`, { cause: errors[0] })
      this.#failure = { error, at: performance.now() }
      throw error
    }
    this.#timeline = Math.max(this.#timeline, best.timeline)
    this.#failure = undefined
    this.#misses = 0
    this.#current = best
    if (this.#wants === 'primary') this.#dropOthers(best)
    return best
  }

  /**
   * A pooler keeps the connections of its clients while its server is down. When that server returns as a standby, they
   * would read data that may be old.
   */
  #dropOthers({ host, port }: Server): void {
    for (const one of this.#tracked) {
      if (one.server?.host === host && one.server.port === port) continue
      one.drop(new NoPrimaryError('another server has become the primary'))
    }
  }

  /** Finds a server that neither responds nor closes its connections, and one that was replaced but still runs. */
  async #look(): Promise<void> {
    if (this.#finding || this.#looking) return
    const current = this.#current
    if (!current) {
      // Also when no new connection is needed, so that those to a former primary are closed.
      await this.find().catch(() => undefined)
      return
    }
    this.#looking = true
    const { answers } = await this.#askAll()
    this.#looking = false
    if (this.#current !== current) return
    const isCurrent = ({ host, port }: Server): boolean => host === current.host && port === current.port
    const answer = answers.find(isCurrent)
    const best = this.#bestOf(answers)
    this.#misses = answer ? 0 : this.#misses + 1
    const isReplaced =
      answer?.isStandby === (this.#wants === 'primary') || (best !== undefined && best.timeline > this.#timeline)
    if (isReplaced) this.#leave(current, new NoPrimaryError('another server has become the primary'))
    else if (this.#misses >= maxMisses) this.#leave(current, new NoPrimaryError('the server does not respond'))
  }

  #leave(server: Server, error: Error): void {
    this.forget()
    for (const one of this.#tracked) if (one.server === server) one.drop(error)
  }
}

const known = new Map<string, Servers>()

/**
 * The servers of a connection that has a URL, shared by all pools of the process. Undefined for the embedded database,
 * which is one server without a pooler.
 */
export const serversOf = (
  { connectionString: url }: pg.ClientConfig,
  wants: 'primary' | 'standby' = 'primary',
): Servers | undefined => {
  if (url === undefined) return undefined
  const key = `${wants} ${url}`
  let servers = known.get(key)
  if (!servers) known.set(key, (servers = new Servers(url, wants)))
  return servers
}
