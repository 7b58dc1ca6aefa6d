import type { Command } from './command.ts'

/** Commands that need the database migrate it first, so nothing is left to do here. */
export const migrateCommand: Command = {
  words: 'migrate',
  summary: 'Apply pending migrations and exit',
  options: {},
  details: 'For deployments that migrate before they start new processes. Every start applies pending migrations too.',
  needs: 'database',
  run: () => Promise.resolve({ json: { isCurrent: true }, lines: ['The schema is up to date.'] }),
}
