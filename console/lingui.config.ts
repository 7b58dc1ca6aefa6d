import { join } from 'node:path'
import { defineConfig } from '@lingui/conf'
import { formatter } from '@lingui/format-po'
import { createSwcExtractor } from '@lingui/native-tools'

const pages = [
  'agents',
  'authorize',
  'billing',
  'chat',
  'connections',
  'events',
  'files',
  'home',
  'settings',
  'sign-in',
  'webhooks',
]

// English is written in the source. Each area has its own catalogue, so that it can be read and changed as one file.
export default defineConfig({
  sourceLocale: 'en',
  runtimeConfigModule: { Trans: ['#trans', 'Trans'] },
  locales: ['de'],
  rootDir: join(import.meta.dirname, 'src'),
  catalogs: [
    ...pages.map((page) => ({ path: `<rootDir>/../locales/{locale}/${page}`, include: [`<rootDir>/pages/${page}`] })),
    { path: '<rootDir>/../locales/{locale}/shell', include: ['<rootDir>'], exclude: ['<rootDir>/pages/**'] },
  ],
  extractors: [createSwcExtractor()],
  format: formatter({ origins: false, printLinguiId: false }),
  orderBy: 'message',
})
