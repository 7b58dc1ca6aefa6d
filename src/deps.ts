import type pg from 'pg'
import { createModelCatalog } from './agents/agents.ts'
import type { ModelCatalog } from './agents/agents.ts'
import { createBilling, createPdfPrinter } from './billing/billing.ts'
import type { Billing, PdfPrinter } from './billing/billing.ts'
import type { Config } from './config/config.ts'
import { catalog, checkCatalog, createConnectorTools, toolNamesOf } from './connectors/connectors.ts'
import { createUploadEnds } from './files/direct/ended.ts'
import type { UploadEnds } from './files/direct/ended.ts'
import { createPreviewer } from './files/preview/previewer.ts'
import type { Previewer } from './files/preview/previewer.ts'
import { openDatabase } from './platform/database/database.ts'
import type { Database } from './platform/database/database.ts'
import { createDiskSpace } from './platform/process/disk-space.ts'
import type { DiskSpace } from './platform/process/disk-space.ts'
import { openSecrets } from './platform/encryption/keys.ts'
import { createJobs } from './platform/jobs/jobs.ts'
import type { Jobs } from './platform/jobs/jobs.ts'
import type { Log } from './platform/process/log.ts'
import type { ObjectStore } from './platform/object-store/object-store.ts'
import { openObjectStore } from './platform/object-store/open.ts'
import { createOutbound } from './platform/outbound/outbound.ts'
import type { Outbound } from './platform/outbound/outbound.ts'
import type { RateLimiterOptions } from './platform/http/limits/rate-limit.ts'
import { createPages } from './platform/sandbox/pages.ts'
import type { SandboxLimits } from './platform/sandbox/sandbox.ts'
import type { Sealer } from './platform/encryption/secrets.ts'
import { createNotifyTransport } from './platform/wake/notify-transport.ts'
import { findInstallation } from './platform/wake/queries.ts'
import { createRedisTransport } from './platform/wake/redis-transport.ts'
import { createWakeups, noWakeups } from './platform/wake/wakeups.ts'
import type { Wakeups } from './platform/wake/wakeups.ts'
import { createOutputValidator } from './sessions/output/validator.ts'
import type { OutputValidator } from './sessions/output/validator.ts'
import { createTransformer } from './events/endpoints/transform/transformer.ts'
import type { Transformer } from './events/endpoints/transform/transformer.ts'
import { createEventStreams } from './events/stream/event-streams.ts'
import type { EventStreams } from './events/stream/event-streams.ts'
import { createChainHeaders } from './outbox/chain.ts'
import type { ChainHeaders } from './outbox/chain.ts'
import { createPublisher } from './outbox/publisher.ts'
import type { Expanders } from './outbox/expand.ts'
import type { EventPublisher } from './outbox/publisher.ts'
import { createQuotas } from './quotas/quotas.ts'
import type { Quotas } from './quotas/quotas.ts'
import { expandMessage } from './sessions/events.ts'
import { createCircuits } from './sessions/models/circuits.ts'
import type { Circuits } from './sessions/models/circuits.ts'
import { fileTools } from './sessions/tools/file-tools.ts'
import { createPeerTools, peerToolName } from './sessions/peers/peers.ts'
import { createProbation } from './sessions/runtime/probation.ts'
import type { Probation } from './sessions/runtime/probation.ts'
import { builtIn, createToolbox } from './sessions/tools/tools.ts'
import type { Toolbox } from './sessions/tools/tools.ts'
import { createWebTools, webToolNames } from './sessions/tools/web-tool.ts'
import { createTurnNotifier } from './sessions/streams/turn-notifier.ts'
import type { TurnNotifier } from './sessions/streams/turn-notifier.ts'
import { expandReceivedEvent } from './webhooks/deliver/deliveries.ts'
import { createDeliveryWake } from './webhooks/deliver/wake.ts'
import type { DeliveryWake } from './webhooks/deliver/wake.ts'
import type { KnownTools } from './tool.ts'

/** The dependencies of routes and job handlers, opened once by main.ts, the test harness or the CLI. */
export interface Deps {
  config: Config
  db: Database
  log: Log
  objects: ObjectStore
  /** The disk of the data directory. Undefined when neither files nor the database use it. */
  disk: DiskSpace | undefined
  /** Not started: the caller decides whether this process runs jobs. */
  jobs: Jobs
  models: ModelCatalog
  /** Notifies streams of events of chat turns. */
  notifier: TurnNotifier
  /** Limits the number of turns of crashed workers that this process runs at the same time. */
  probation: Probation
  /** The tools of agents. Every source of tools is listed in openDeps. */
  toolbox: Toolbox
  /** The tools and connectors that settings may name. */
  knownTools: KnownTools
  /** Balances, payments, and posting charges to the ledger. */
  billing: Billing
  /** Makes PDF files of statements and receipts. */
  printer: PdfPrinter
  /** Limits of what an org stores. */
  quotas: Quotas
  /** Previews files for people and models. */
  previewer: Previewer
  /** Encrypts stored secrets and derives signing keys. */
  secrets: Sealer
  /** Sends requests to URLs that users name. */
  outbound: Outbound
  /** Stop requests to model providers that fail. */
  circuits: Circuits
  /** Wakes other processes. Not started: the caller decides whether this process takes part. */
  wakeups: Wakeups
  /** Moves committed events from the outbox to the log. Not started: the caller decides whether this process takes part. */
  publisher: EventPublisher
  /** Streams of events for the clients of this process. */
  eventStreams: EventStreams
  uploadEnds: UploadEnds
  /** Read the contents that events refer to, for subscribers that ask for them. */
  expanders: Expanders
  /** Evaluates the transforms of event endpoints. */
  transformer: Transformer
  outputValidator: OutputValidator
  /** Signs and verifies the header with the chain of events that a request belongs to. */
  chains: ChainHeaders
  /** Wakes a worker when there are events to forward. */
  deliveryWake: DeliveryWake
  /** The clock and the Redis timeout of the rate limiter, for tests. */
  limiterOptions?: Pick<RateLimiterOptions, 'now' | 'redisTimeoutMs'>
  /** The clock of sign-in budgets in milliseconds since 1970, for tests. Default: the system clock. */
  now?: () => number
}

export interface OpenedDeps {
  deps: Deps
  /** Closes everything in reverse order of use. */
  close(): Promise<void>
}

const knownTools: KnownTools = {
  names: [
    ...fileTools.map(({ name }) => name),
    ...webToolNames,
    peerToolName,
    ...[...catalog.values()].flatMap(toolNamesOf),
  ],
  connectors: [...catalog.keys()],
}

// Supervisors usually send SIGKILL after 30 s, and running requests need time too.
const jobsDeadlineMs = 20_000

/** For what a pooler cannot do. Undefined: the connection of everything else. */
const directConnection = ({ databaseDirectUrl: url }: Config): pg.ClientConfig | undefined =>
  url === undefined ? undefined : { connectionString: url }

const openDisk = ({ dataDir, diskReserveBytes, databaseUrl, s3 }: Config): DiskSpace | undefined =>
  databaseUrl !== undefined && s3 !== undefined
    ? undefined
    : createDiskSpace({ path: dataDir, reserveBytes: diskReserveBytes })

/** Only one process at a time can use the embedded database, so there is nobody to wake. */
const openWakeups = (
  { databaseUrl, redisUrl }: Config,
  connection: pg.ClientConfig,
  { db, log }: { db: Database; log: Log },
): Wakeups => {
  if (redisUrl !== undefined) {
    return createWakeups({ transport: createRedisTransport(redisUrl, () => findInstallation(db)), log })
  }
  return databaseUrl === undefined ? noWakeups : createWakeups({ transport: createNotifyTransport(connection), log })
}

const openPools = (config: Config, connection: pg.ClientConfig, log: Log): Database =>
  openDatabase({
    connection,
    poolSize: config.databasePoolSize,
    hotConnections: 2,
    replica:
      config.databaseReplicaUrl === undefined
        ? undefined
        : {
            connection: { connectionString: config.databaseReplicaUrl },
            poolSize: config.databasePoolSize,
            waitMs: config.databaseReplicaWaitMs,
          },
    onError: (error, where) => log.warn({ err: error, where }, 'database connection'),
  })

export interface OpenOptions {
  /** Avoids reading from the database, so that the routes can be listed without one. */
  secrets?: Sealer
  /** Limits of the processes that read files and pages. */
  sandbox?: Partial<SandboxLimits>
}

const secretsOf = (db: Database, config: Config): Promise<Sealer> =>
  openSecrets(db, config).catch(async (error: unknown) => {
    await db.close()
    throw error
  })

/** The programs that read what strangers sent, each in processes of its own. */
const openSandboxes = (log: Log, sandbox: Partial<SandboxLimits>) => {
  const previewer = createPreviewer({ log, ...sandbox })
  const transformer = createTransformer({ log })
  const outputValidator = createOutputValidator()
  const pages = createPages(sandbox)
  const printer = createPdfPrinter(sandbox)
  const close = async (): Promise<void> => {
    await Promise.all([previewer, transformer, outputValidator, pages, printer].map((one) => one.close()))
  }
  return { sandboxed: { previewer, transformer, outputValidator, printer }, pages, close }
}

/** Opens everything on a migrated database. `config.dataDir` must exist. */
export const openDeps = async (
  config: Config,
  connection: pg.ClientConfig,
  log: Log,
  { secrets: given, sandbox = {} }: OpenOptions = {},
): Promise<OpenedDeps> => {
  await checkCatalog()
  const disk = openDisk(config)
  const objects = await openObjectStore(config, disk)
  const db = openPools(config, connection, log)
  const secrets = given ?? (await secretsOf(db, config))
  const direct = directConnection(config) ?? connection
  const wakeups = openWakeups(config, direct, { db, log })
  const jobs = createJobs({ connection, direct, log, wakeups })
  const models = createModelCatalog(config.modelProviders)
  const notifier = createTurnNotifier(wakeups)
  const publisher = createPublisher({ db, log })
  const eventStreams = createEventStreams({ db, log, wakeups })
  const billing = createBilling(config.billing, { db, jobs, log })
  const quotas = createQuotas({
    db,
    log,
    defaults: config.quotas,
    plans: config.billing.plans,
    takesPayments: config.billing.stripe !== undefined,
  })
  const { sandboxed, pages, close: closeSandboxes } = openSandboxes(log, sandbox)
  const outbound = createOutbound({ allowCidrs: config.outboundAllowCidrs })
  const chains = createChainHeaders(secrets.deriveKeys('event chains'))
  return {
    deps: {
      config,
      db,
      log,
      objects,
      disk,
      jobs,
      models,
      notifier,
      probation: createProbation(),
      toolbox: createToolbox(
        [
          builtIn(fileTools),
          createWebTools(outbound, pages),
          createPeerTools({ db, jobs, log, models, notifier, billing }),
          createConnectorTools({ config, db, log, secrets, outbound, pages, chains }),
        ],
        log,
      ),
      knownTools,
      billing,
      quotas,
      ...sandboxed,
      secrets,
      outbound,
      circuits: createCircuits(config.modelProviders, log),
      publisher,
      expanders: { 'message.created': expandMessage(db), 'webhook.event.received': expandReceivedEvent(db) },
      eventStreams,
      uploadEnds: createUploadEnds(db, wakeups),
      chains,
      deliveryWake: createDeliveryWake(wakeups),
      wakeups,
    },
    close: async () => {
      await jobs.stop({ deadlineMs: jobsDeadlineMs })
      await publisher.stop()
      await eventStreams.close()
      await billing.chargePoster.close()
      await wakeups.close()
      await Promise.all([closeSandboxes(), outbound.close()])
      await db.close()
    },
  }
}
