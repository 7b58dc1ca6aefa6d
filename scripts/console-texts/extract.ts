// Writes the messages of the console's source into console/locales, and keeps their translations: `npm run messages`.
// With the path of an area, as in `npm run messages -- pages/files`, it also lists texts that are not messages.
import { getCatalogs } from '@lingui/cli/api'
import { getConfig } from '@lingui/conf'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findInFolder } from './hard-coded.ts'

const cwd = fileURLToPath(new URL('../../console', import.meta.url))

let missing = 0
for (const catalog of await getCatalogs(getConfig({ cwd }))) {
  const made = await catalog.make({ orderBy: 'message', clean: true, overwrite: false })
  if (!made) throw new Error(`The messages of ${catalog.path} could not be extracted`)
  for (const messages of Object.values(made)) {
    missing += Object.values(messages).filter(({ translation = '' }) => translation === '').length
  }
}
console.log(missing === 0 ? 'All messages are translated.' : `${missing} messages have no translation yet.`)
for (const area of process.argv.slice(2)) {
  for (const text of await findInFolder(join(cwd, 'src'), area)) console.log(text)
}
