import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import type { Actor } from '../../identity/actor.ts'
import { languages } from '../../platform/text/languages.ts'
import type { Language } from '../../platform/text/languages.ts'
import { getLanguage } from '../../identity/members/profile.ts'
import type { Db } from '../../platform/database/database.ts'
import { onceClosed } from '../../platform/http/closed.ts'
import type { PrintedDocument } from './document.ts'
import { documentPolicy, htmlOf } from './html.ts'
import type { PdfPrinter } from './pdf.ts'

export const DocumentQuery = Type.Object({
  format: Type.Enum(['pdf', 'html'], {
    default: 'pdf',
    description: '`pdf`: a file of A4 pages. `html`: a page for a browser, without scripts. Default `pdf`.',
  }),
  language: Type.Optional(
    Type.Enum([...languages], {
      description: 'Language of the document, `en` or `de`. Default: the language of the caller in this org, or `en`.',
      examples: ['de'],
    }),
  ),
})

/** The response of a document, for the API reference only. */
export const documentResponse = (description: string) => ({
  200: {
    description,
    content: {
      'application/pdf': {
        schema: Type.String({ format: 'binary', description: 'The PDF file.', examples: ['%PDF-1.3'] }),
      },
      'text/html': { schema: Type.String({ description: 'The page.', examples: ['<!doctype html>'] }) },
    },
  },
})

/** The language that was asked for, or the caller's, or English. */
export const languageOf = async (db: Db, actor: Actor, wanted: Language | undefined): Promise<Language> =>
  wanted ?? (await getLanguage(db, actor)) ?? 'en'

/** Sends a document. `name`: of the file, without its ending, of letters, digits and dashes. */
export const sendDocument = async (
  reply: FastifyReply,
  printer: PdfPrinter,
  { actor, name, format }: { actor: Actor; name: string; format: 'pdf' | 'html' },
  document: PrintedDocument,
): Promise<unknown> => {
  const send = (type: string, disposition: string, content: string | Buffer): unknown =>
    reply
      .headers({
        'content-security-policy': documentPolicy,
        'content-disposition': `${disposition}; filename="${name}.${format}"`,
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
      })
      .type(type)
      .send(content)
  if (format === 'html') return send('text/html; charset=utf-8', 'inline', htmlOf(document))
  const disconnect = new AbortController()
  const forget = onceClosed(reply.raw, () => disconnect.abort(new Error('the request was aborted')))
  const file = await printer.print(document, { orgId: actor.orgId, userId: actor.userId, signal: disconnect.signal })
  forget()
  return send('application/pdf', 'attachment', file)
}
