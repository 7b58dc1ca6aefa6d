import pg from 'pg'
import type { QueryConfig } from 'pg'
import { endsConnection, readOnlyState, sqlState } from '../errors.ts'
import { readState, serversOf } from './servers.ts'
import type { Server, Servers, Tracked } from './servers.ts'

/** How all connections of Atrium are configured. */
export interface ConnectionConfig extends pg.ClientConfig {
  /** Settings of the session, by name. */
  settings?: Readonly<Record<string, string>>
  /** `standby`: connections go to a server in recovery. */
  wants?: 'primary' | 'standby'
}

type Connected = ((error: Error) => void) | ((error: null, client: pg.Client) => void)

// What node-postgres has but does not declare.
interface Undeclared {
  getStartupConf(): Record<string, string>
}
const Base = pg.Client as unknown as new (config: pg.ClientConfig) => pg.Client & Undeclared

// The startup parameters that PgBouncer accepts and sets again on each server connection. It rejects all others.
const poolerParameters = ['user', 'database', 'application_name', 'timezone', 'datestyle']

/** Longer than the server's limit of a statement, which a session behind a pooler does not have. */
const poolerTimeoutMs = 35_000

/** A connection to the primary of a URL with one or several hosts, which may be poolers. */
export class DatabaseClient extends Base implements Tracked {
  readonly #servers: Servers | undefined
  readonly #settings: Readonly<Record<string, string>>
  #server: Server | undefined

  constructor(config: ConnectionConfig) {
    const servers = serversOf(config, config.wants)
    // Not copied without need: pg-pool hides the password from copies.
    super(servers ? { ...config, connectionString: servers.urls[0] } : config)
    this.#servers = servers
    this.#settings = config.settings ?? {}
    // A connection that breaks while no statement runs has none to reject, also before a pool has it. An error event
    // without a listener would end the process. The next statement rejects.
    this.on('error', () => undefined)
  }

  /** Undefined before the connection and for the embedded database. */
  get server(): Server | undefined {
    return this.#server
  }

  /**
   * Settings that a transaction must begin with, such as `; set local statement_timeout = '30000'`. Empty when the session
   * has them: a pooler gives each transaction another session.
   */
  get localSettings(): string {
    if (this.#server?.isPooler !== true) return ''
    return Object.entries(this.#settings)
      .filter(([name]) => !poolerParameters.includes(name))
      .map(([name, value]) => `; set local ${name} = '${value}'`)
      .join('')
  }

  override connect(): Promise<pg.Client>
  override connect(callback: Connected): void
  override connect(callback?: Connected): Promise<pg.Client> | undefined {
    if (callback === undefined) return this.#open()
    void this.#openFor(callback as (error: Error | null, client?: pg.Client) => void)
    return undefined
  }

  override getStartupConf(): Record<string, string> {
    const all = { ...this.#settings, ...super.getStartupConf() }
    if (this.#server?.isPooler !== true) return all
    return Object.fromEntries(Object.entries(all).filter(([name]) => poolerParameters.includes(name)))
  }

  drop(error: Error): void {
    this.connection.stream.destroy(error)
  }

  /** Whether the connection must not be used again after this error. If so, the next one asks for the primary again. */
  isLost(error: unknown): boolean {
    if (!endsConnection(error)) return false
    if (this.#server && sqlState(error) === readOnlyState) this.#servers?.doubt(this.#server)
    else this.#servers?.forget()
    return true
  }

  async #open(): Promise<pg.Client> {
    const servers = this.#servers
    if (!servers) return super.connect()
    const server = await servers.find()
    this.#server = server
    this.host = server.host
    this.port = server.port
    if (server.isPooler) this.#adaptStatements(server)
    try {
      await super.connect()
      servers.check(await readState(this))
    } catch (error) {
      // The server may have been replaced since it was found.
      servers.forget()
      this.drop(error as Error)
      throw error
    }
    this.once('end', servers.track(this))
    return this
  }

  async #openFor(callback: (error: Error | null, client?: pg.Client) => void): Promise<void> {
    try {
      await this.#open()
    } catch (error) {
      callback(error as Error)
      return
    }
    callback(null, this)
  }

  #adaptStatements({ hasNamedStatements }: Server): void {
    const send = this.query.bind(this) as (config: unknown, ...more: unknown[]) => unknown
    const adapt = (config: unknown): unknown => {
      if (typeof config !== 'object') return config
      const { name, ...rest } = config as QueryConfig
      return { query_timeout: poolerTimeoutMs, ...rest, ...(hasNamedStatements && name !== undefined ? { name } : {}) }
    }
    this.query = ((config: unknown, ...more: unknown[]) => send(adapt(config), ...more)) as typeof this.query
  }
}
