import { Type } from 'typebox'
import type { Database } from '../platform/database.ts'
import { badRequest } from '../platform/errors.ts'
import { apiPrefix } from '../platform/http.ts'
import type { App } from '../platform/http.ts'
import type { ObjectStore } from '../platform/object-store/object-store.ts'
import { Id, IdParams, Success, ok } from '../platform/schemas.ts'
import { openFile } from './files.ts'
import type { Previewer } from './preview/previewer.ts'
import { previewFile } from './previews.ts'

export interface PreviewDeps {
  db: Database
  objects: ObjectStore
  previewer: Previewer
}

const Sheet = Type.Object({
  name: Type.String({ description: 'Empty for CSV and TSV' }),
  rows: Type.Array(Type.Array(Type.String())),
  rowCount: Type.Integer({ description: 'Rows up to the last one that holds something, shown or not' }),
  columnCount: Type.Integer(),
  truncated: Type.Boolean(),
})

export const FilePreview = Type.Object({
  fileId: Id,
  name: Type.String(),
  mimeType: Type.String(),
  kind: Type.Union([Type.Literal('text'), Type.Literal('document'), Type.Literal('spreadsheet')]),
  truncated: Type.Boolean({ description: 'There is more in the file than in here' }),
  text: Type.Optional(Type.String({ description: 'Of text and documents, up to 512 KB' })),
  html: Type.Optional(Type.String({ description: 'Of documents; safe to show' })),
  sheets: Type.Optional(Type.Array(Sheet, { description: 'Of spreadsheets' })),
})

export const registerPreviewRoutes = (app: App, { db, objects, previewer }: PreviewDeps): void => {
  app.get(
    `${apiPrefix}/files/:id/preview`,
    {
      config: { access: 'files:read', what: 'File' },
      schema: {
        tags: ['Files'],
        summary: 'The text, document or spreadsheet that a file holds, up to 25 MB of it',
        params: IdParams,
        response: { 200: Success(FilePreview) },
      },
    },
    async (request) => {
      const { actor, signal } = request
      const { read, ...file } = await openFile(db.hot, objects, actor, request.params.id)
      try {
        const preview = await previewFile(db, actor, previewer, { ...file, open: read }, signal)
        return ok({ fileId: file.id, name: file.name, mimeType: file.mimeType, ...preview })
      } catch (error) {
        throw signal.aborted ? badRequest('The request was cut off.', { cause: error }) : error
      }
    },
  )
}
