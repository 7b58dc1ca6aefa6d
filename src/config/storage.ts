import { resolve } from 'node:path'
import { boolean, integer, Mistake, text, url } from './values.ts'
import type { Parse, ParsedOf, Variable } from './values.ts'
import { parseRedisUrl } from '../platform/redis/address.ts'
import { parseEncryptionKey } from '../platform/encryption/secrets.ts'
import { hostsOf, urlsOf } from '../platform/database/connections/servers.ts'
import type { S3Settings } from '../platform/object-store/s3.ts'
import type { EncryptionKey } from '../platform/encryption/secrets.ts'

const example = 'postgres://user:password@host:5432/atrium'

// A database behind a Unix socket has no host name: postgres://user@/atrium?host=/run/postgresql
const isDatabaseUrl = (value: string): boolean =>
  !(
    url(
      ['postgres:', 'postgresql:'],
      example,
    )(value.replace(/@\/|:\/\/\//, (empty) => (empty === '@/' ? '@localhost/' : '://localhost/'))) instanceof Mistake
  )

const sslModes = ['disable', 'no-verify', 'prefer', 'require', 'verify-ca', 'verify-full']

/** One host or several separated by commas, as libpq accepts them. `attributes`: of `target_session_attrs`. */
const databaseUrl =
  (...attributes: string[]): Parse<string> =>
  (value) => {
    const hosts = hostsOf(value)
    const isComplete = hosts.length === 1 || !hosts.includes('')
    if (!isComplete || !urlsOf(value).every(isDatabaseUrl)) return new Mistake(`must be a URL such as ${example}`)
    const [, sslMode] = /[?&]sslmode=([^&#]*)/.exec(value) ?? []
    // The driver treats a mode that it does not know as verify-full, and `allow` too.
    if (sslMode !== undefined && !sslModes.includes(sslMode)) {
      return new Mistake(`must have an sslmode of ${sslModes.join(', ')}, or none`)
    }
    const [, attribute] = /[?&]target_session_attrs=([^&#]*)/.exec(value) ?? []
    return attribute === undefined || attributes.includes(attribute)
      ? value
      : new Mistake(`must have a target_session_attrs of ${attributes.join(', ')}, or none`)
  }

const primaryUrl = databaseUrl('read-write', 'primary', 'any')

const redisUrl: Parse<string> = (value) =>
  parseRedisUrl(value)
    ? value
    : new Mistake(
        'must be a URL such as redis://host:6379, redis+sentinel://host:26379,host:26379/NAME or redis+cluster://host:6379,host:6379',
      )

const encryptionKeys: Parse<EncryptionKey[]> = (value) => {
  const keys = value.split(',').map(parseEncryptionKey)
  if (!keys.every((key) => key !== undefined)) {
    return new Mistake(
      'must be id:base64 pairs separated by commas, each of 32 bytes (generate one with: openssl rand -base64 32)',
    )
  }
  if (new Set(keys.map(({ id }) => id)).size !== keys.length) return new Mistake('names the same key id twice')
  return keys
}

/** Database, object store and encryption keys. */
export const storageVariables = {
  DATA_DIR: {
    description: 'Directory of the embedded database, stored files and generated secrets.',
    fallback: '.atrium',
    parse: text,
  },
  DISK_RESERVE_MB: {
    description:
      'Uploads to the local disk are rejected while less than this (or 2 % of the disk, whichever is less) is free under `DATA_DIR`, so that the database does not run out of space. 0: no reserve.',
    fallback: '256',
    parse: integer(0, 1_000_000),
  },
  UPLOAD_MAX_BYTES: {
    description:
      'Maximum size of a file in bytes, 104,857,600–5,497,558,138,880 (5 TB). Larger files than 104,857,600 bytes (100 MB) need a resumable or a direct upload; other requests that send a file are limited to that.',
    fallback: '104857600',
    parse: integer(104_857_600, 5_497_558_138_880),
  },
  DATABASE_URL: {
    description:
      'URL of PostgreSQL 15 or newer, or of PgBouncer. Several hosts (`postgres://h1,h2/atrium`): the primary among them is used. Unset: the embedded PostgreSQL, for one machine.',
    fallback: '',
    parse: primaryUrl,
    secret: true,
  },
  DATABASE_DIRECT_URL: {
    description:
      'URL of the same database without PgBouncer, for migrations and the installation of jobs. Unset: `DATABASE_URL`.',
    fallback: '',
    parse: primaryUrl,
    secret: true,
  },
  DATABASE_REPLICA_URL: {
    description:
      'URL of one or several standbys of the same database, for lists, searches and reports. Unset: the primary.',
    fallback: '',
    parse: databaseUrl('standby', 'prefer-standby', 'read-only', 'any'),
    secret: true,
  },
  DATABASE_REPLICA_WAIT_MS: {
    description:
      'How long a read waits until the standby has everything that was committed before the read. Then the primary is used.',
    fallback: '50',
    parse: integer(0, 5_000),
  },
  DATABASE_POOL_SIZE: {
    description:
      'Maximum number of PostgreSQL connections in the pool of one process, and in its pool for `DATABASE_REPLICA_URL`. A process has up to 7 more connections to the primary.',
    fallback: '5',
    parse: integer(2, 200),
  },
  REDIS_URL: {
    description:
      'URL of Redis or Valkey, for rate limits that API processes share and for waking other processes: `redis://host:6379`, `redis+sentinel://host:26379,host:26379/NAME`, or `redis+cluster://host:6379,host:6379`. With TLS: `rediss…`. Unset: rate limits are counted in memory, and PostgreSQL wakes processes.',
    fallback: '',
    parse: redisUrl,
    secret: true,
  },
  S3_BUCKET: {
    description:
      'Bucket of an S3-compatible store for file contents, with credentials in the standard `AWS_*` variables. Unset: local disk.',
    fallback: '',
    parse: text,
  },
  S3_ENDPOINT: {
    description: 'URL of the S3-compatible store. Unset: AWS.',
    fallback: '',
    parse: url(['http:', 'https:'], 'https://s3.example.com'),
  },
  S3_PUBLIC_ENDPOINT: {
    description: 'URL of the store for browsers, which download from it. Unset: `S3_ENDPOINT`.',
    fallback: '',
    parse: url(['http:', 'https:'], 'https://s3.example.com'),
  },
  S3_REGION: { description: 'Region of the bucket.', fallback: 'us-east-1', parse: text },
  S3_FORCE_PATH_STYLE: {
    description: 'Send the bucket name in the path instead of the host name.',
    fallback: '0',
    parse: boolean,
  },
  S3_DIRECT_UPLOADS: {
    description:
      'Clients send the bytes of files to the bucket and not to Atrium. The bucket must be reachable for them, and allow the origin of the console by CORS.',
    fallback: '0',
    parse: boolean,
  },
  ENCRYPTION_KEYS: {
    description:
      'Comma-separated keys of the form `id:base64(32 bytes)`. The first key encrypts, all keys decrypt. Unset: a key is generated under `DATA_DIR`. Required in production with `DATABASE_URL`.',
    fallback: '',
    parse: encryptionKeys,
    secret: true,
  },
} as const satisfies Record<string, Variable>

export interface StorageConfig {
  dataDir: string
  /** Bytes that uploads must leave free on the disk of the data directory. */
  diskReserveBytes: number
  /** Of a file that is uploaded in a resumable or direct upload; requests that send a whole file accept less. */
  uploadMaxBytes: number
  databaseUrl: string | undefined
  databaseDirectUrl: string | undefined
  databaseReplicaUrl: string | undefined
  databaseReplicaWaitMs: number
  databasePoolSize: number
  redisUrl: string | undefined
  s3: S3Settings | undefined
  /** Whether clients send the bytes of files to the bucket. */
  directUploads: boolean
  /** The first key encrypts, all keys decrypt. Undefined: one is generated under the data directory. */
  encryptionKeys: EncryptionKey[] | undefined
}

export const storageConfigOf = (parsed: ParsedOf<typeof storageVariables>): StorageConfig => ({
  dataDir: resolve(parsed.DATA_DIR),
  diskReserveBytes: parsed.DISK_RESERVE_MB * 1_048_576,
  uploadMaxBytes: parsed.UPLOAD_MAX_BYTES,
  databaseUrl: parsed.DATABASE_URL,
  databaseDirectUrl: parsed.DATABASE_DIRECT_URL,
  databaseReplicaUrl: parsed.DATABASE_REPLICA_URL,
  databaseReplicaWaitMs: parsed.DATABASE_REPLICA_WAIT_MS,
  databasePoolSize: parsed.DATABASE_POOL_SIZE,
  redisUrl: parsed.REDIS_URL,
  s3:
    parsed.S3_BUCKET === undefined
      ? undefined
      : {
          bucket: parsed.S3_BUCKET,
          endpoint: parsed.S3_ENDPOINT,
          publicEndpoint: parsed.S3_PUBLIC_ENDPOINT,
          region: parsed.S3_REGION,
          forcePathStyle: parsed.S3_FORCE_PATH_STYLE,
        },
  directUploads: parsed.S3_BUCKET !== undefined && parsed.S3_DIRECT_UPLOADS,
  encryptionKeys: parsed.ENCRYPTION_KEYS,
})
