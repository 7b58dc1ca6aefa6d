import type { BuiltRequest, Connector, Values } from '../definition.ts'

const fileId = { type: 'string', pattern: '^[A-Za-z0-9_-]{10,120}$', description: 'Id of the file' }
const pageSize = { type: 'integer', minimum: 1, maximum: 100, description: 'How many at most' }
const pageToken = { type: 'string', description: 'nextPageToken of the page before' }
const fields = 'id,name,mimeType,size,modifiedTime,webViewLink,parents'
const listed = ['files', 'nextPageToken']

const quoted = (text: unknown): string => `'${String(text).replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

const list = (q: string, input: Values, orderBy?: string): BuiltRequest => ({
  method: 'GET',
  segments: ['drive', 'v3', 'files'],
  query: {
    q,
    fields: `nextPageToken,files(${fields})`,
    pageSize: (input['page_size'] ?? 25) as number,
    orderBy,
    pageToken: input['page_token'] as string | undefined,
  },
})

export const connector: Connector = {
  slug: 'google-drive',
  name: 'Google Drive',
  description: 'Files, folders and documents in Google Drive.',
  auth: {
    type: 'oauth',
    authorizeUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
    tokenUrl: 'https://oauth2.googleapis.com/token',
    scopes: ['https://www.googleapis.com/auth/drive.readonly', 'https://www.googleapis.com/auth/drive.file'],
    // A refresh token comes only with both.
    authorizeParams: { access_type: 'offline', prompt: 'consent' },
    account: {
      from: { method: 'GET', path: '/drive/v3/about', query: { fields: 'user(permissionId,emailAddress)' } },
      id: 'user.permissionId',
      name: 'user.emailAddress',
    },
    revoke: { method: 'POST', url: 'https://oauth2.googleapis.com/revoke', form: { token: '{token}' } },
  },
  api: { baseUrl: 'https://www.googleapis.com', errorMessage: ['error.message'] },
  tools: [
    {
      name: 'search_files',
      description: 'Finds files by words in their name or text.',
      input: { query: { type: 'string', minLength: 1, maxLength: 200 }, page_size: pageSize, page_token: pageToken },
      required: ['query'],
      isReadOnly: true,
      // Google allows no order of our own where texts are searched.
      request: (input) => list(`fullText contains ${quoted(input['query'])} and trashed = false`, input),
      answer: listed,
    },
    {
      name: 'list_folder',
      description: "Lists what is in a folder; `root` is the top of the person's drive.",
      input: {
        folder_id: { type: 'string', pattern: '^[A-Za-z0-9_-]{4,120}$' },
        page_size: pageSize,
        page_token: pageToken,
      },
      required: ['folder_id'],
      isReadOnly: true,
      request: (input) => list(`${quoted(input['folder_id'])} in parents and trashed = false`, input, 'folder,name'),
      answer: listed,
    },
    {
      name: 'get_file',
      description: 'Tells what is known about a file: name, type, size, when it was changed, where it is.',
      input: { file_id: fileId },
      required: ['file_id'],
      isReadOnly: true,
      request: {
        method: 'GET',
        path: '/drive/v3/files/{file_id}',
        query: { fields: `${fields},owners(emailAddress)` },
      },
    },
    {
      name: 'read_document',
      description: 'Reads a Google document, spreadsheet or presentation as text.',
      input: {
        file_id: fileId,
        format: {
          type: 'string',
          enum: ['text/plain', 'text/markdown', 'text/csv'],
          description: 'csv for spreadsheets',
        },
      },
      required: ['file_id', 'format'],
      isReadOnly: true,
      request: { method: 'GET', path: '/drive/v3/files/{file_id}/export', query: { mimeType: '{format}' } },
      answer: ({ body, truncated }) => ({ text: body, truncated }),
    },
    {
      name: 'read_text_file',
      description: 'Reads a text file that was uploaded, such as .txt, .md, .csv or .json.',
      input: { file_id: fileId },
      required: ['file_id'],
      isReadOnly: true,
      request: { method: 'GET', path: '/drive/v3/files/{file_id}', query: { alt: 'media' } },
      answer: ({ body, truncated }) => ({ text: body, truncated }),
    },
    {
      name: 'create_folder',
      description: 'Creates a folder, at the top or in a folder that Atrium created.',
      input: { name: { type: 'string', minLength: 1, maxLength: 255 }, parent_id: fileId },
      required: ['name'],
      isReadOnly: false,
      request: {
        method: 'POST',
        path: '/drive/v3/files',
        query: { fields },
        json: { name: '{name}', mimeType: 'application/vnd.google-apps.folder', parents: ['{parent_id}'] },
      },
    },
  ],
}
