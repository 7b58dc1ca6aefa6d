// The child process that makes one PDF file. Its input is a PrintedDocument as JSON; its output is the file in base64.
import { text as readAll } from 'node:stream/consumers'
import type { PrintedDocument } from './document.ts'
import { drawDocument } from './pdf-page.ts'

const document = JSON.parse(await readAll(process.stdin)) as PrintedDocument
const file = await drawDocument(document)

process.stdout.end(file.toString('base64'), () => process.exit(0))
