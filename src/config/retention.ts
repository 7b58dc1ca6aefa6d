import { integer, Mistake } from './values.ts'
import type { Parse, ParsedOf, Variable } from './values.ts'

const longest = 36_500

const days =
  (min: number): Parse<number> =>
  (value) => {
    const parsed = integer(0, longest)(value)
    if (parsed === 0 || (typeof parsed === 'number' && parsed >= min)) return parsed
    return new Mistake(`must be 0 or a whole number from ${min} to ${longest}`)
  }

const whole = 'Whole months are deleted, so data is kept for up to a month longer.'

export const retentionVariables = {
  RETENTION_AUDIT_DAYS: {
    description: `Days until entries of the audit log are deleted. ${whole} 0: kept for ever.`,
    fallback: '0',
    parse: days(30),
  },
  RETENTION_MESSAGES_DAYS: {
    description: `Days until messages, turns, model calls and tool calls are deleted. Turns that have not ended by then are cancelled. ${whole} 0: kept for ever.`,
    fallback: '0',
    parse: days(30),
  },
  RETENTION_USAGE_DAYS: {
    description: `Days until the records of single model calls are deleted. Reports and the ledger do not change. ${whole} 0: kept for ever.`,
    fallback: '0',
    parse: days(90),
  },
  RETENTION_CONNECTOR_EVENTS_DAYS: {
    description:
      'Days for which the events that endpoints of connections received are listed and duplicates are recognized. They are deleted up to a month later.',
    fallback: '8',
    parse: integer(8, 3_650),
  },
  TRASH_DAYS: {
    description:
      'Days for which deleted files stay in the trash. Applies to later deletions. 0: files are deleted at once.',
    fallback: '30',
    parse: integer(0, 3_650),
  },
  VERSIONS_KEPT: {
    description:
      'Former versions kept of each file, without those that have a label. The oldest are deleted when a file is overwritten. Admins can set another number for their org.',
    fallback: '100',
    parse: integer(0, 1_000),
  },
  VERSIONS_DAYS: {
    description:
      'Days for which a version without a label is kept after a newer one has replaced it. 0: versions are deleted by their number only. Admins can set another number for their org.',
    fallback: '90',
    parse: integer(0, 3_650),
  },
  RETENTION_EVENTS_DAYS: {
    description: 'Days for which the events of Atrium itself can be read. They are deleted up to a month later.',
    fallback: '30',
    parse: integer(1, 3_650),
  },
} as const satisfies Record<string, Variable>

/** In days; 0 for ever. */
export interface RetentionConfig {
  auditDays: number
  messagesDays: number
  usageDays: number
  /** At least 8, because Pub/Sub, the most persistent provider, retries for 7 days. */
  connectorEventsDays: number
  eventsDays: number
  /** 0: without a trash. */
  trashDays: number
  /** Of each file. */
  versionsKept: number
  /** 0: without a limit of age. */
  versionsDays: number
}

export const retentionConfigOf = (parsed: ParsedOf<typeof retentionVariables>): RetentionConfig => ({
  auditDays: parsed.RETENTION_AUDIT_DAYS,
  messagesDays: parsed.RETENTION_MESSAGES_DAYS,
  usageDays: parsed.RETENTION_USAGE_DAYS,
  connectorEventsDays: parsed.RETENTION_CONNECTOR_EVENTS_DAYS,
  eventsDays: parsed.RETENTION_EVENTS_DAYS,
  trashDays: parsed.TRASH_DAYS,
  versionsKept: parsed.VERSIONS_KEPT,
  versionsDays: parsed.VERSIONS_DAYS,
})
