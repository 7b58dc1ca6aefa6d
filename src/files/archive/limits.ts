/** How many archives one process sends at the same time. */
export const archiveLimits = {
  /** To one person, so that slow downloads leave places to others. */
  person: 2,
  /** To the people of an org. */
  org: 4,
  /** To visitors of shares with one address. */
  address: 2,
  share: 4,
  /** To the visitors of all shares of an org. */
  visitors: 8,
} as const

/** The limit that is reached, as the cause of the error. */
export class ArchiveLimit extends Error {
  readonly limit: keyof typeof archiveLimits

  constructor(limit: keyof typeof archiveLimits) {
    super(`limit of archives: ${limit}`)
    this.name = 'ArchiveLimit'
    this.limit = limit
  }
}
