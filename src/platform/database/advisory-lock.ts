/** Held by a session that migrates or distributes the schema. An arbitrary number that every Atrium process uses. */
export const advisoryLock = 7_203_115

/** Held by the session that builds indexes of large tables. */
export const builderLock = 7_203_116
