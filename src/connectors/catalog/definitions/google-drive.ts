import type { BuiltRequest, Connector, Values } from '../definition.ts'

const fileId = { type: 'string', pattern: '^[A-Za-z0-9_-]{10,120}$', description: 'ID of the file' }
const pageSize = { type: 'integer', minimum: 1, maximum: 100, description: 'Maximum number of results' }
const pageToken = { type: 'string', description: 'nextPageToken of the previous page' }
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
  category: 'documents',
  description: 'Files, folders and documents in Google Drive.',
  auth: {
    type: 'oauth',
    registrationUrl: 'https://console.cloud.google.com/apis/credentials',
    authorizeUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
    tokenUrl: 'https://oauth2.googleapis.com/token',
    scopes: ['https://www.googleapis.com/auth/drive.readonly', 'https://www.googleapis.com/auth/drive.file'],
    // Google issues a refresh token only when both parameters are set.
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
      description: 'Searches files by words in their name or content.',
      input: { query: { type: 'string', minLength: 1, maxLength: 200 }, page_size: pageSize, page_token: pageToken },
      required: ['query'],
      isReadOnly: true,
      // Google rejects orderBy in full-text searches.
      request: (input) => list(`fullText contains ${quoted(input['query'])} and trashed = false`, input),
      output: listed,
    },
    {
      name: 'list_folder',
      description: "Lists the files of a folder. `root` is the top-level folder of the user's drive.",
      input: {
        folder_id: { type: 'string', pattern: '^[A-Za-z0-9_-]{4,120}$' },
        page_size: pageSize,
        page_token: pageToken,
      },
      required: ['folder_id'],
      isReadOnly: true,
      request: (input) => list(`${quoted(input['folder_id'])} in parents and trashed = false`, input, 'folder,name'),
      output: listed,
    },
    {
      name: 'get_file',
      description: 'Gets the metadata of a file: name, type, size, modification time, parent folder and link.',
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
      description: 'Exports a Google document, spreadsheet or presentation as text.',
      input: {
        file_id: fileId,
        format: {
          type: 'string',
          enum: ['text/plain', 'text/markdown', 'text/csv'],
          description: 'text/csv for spreadsheets',
        },
      },
      required: ['file_id', 'format'],
      isReadOnly: true,
      request: { method: 'GET', path: '/drive/v3/files/{file_id}/export', query: { mimeType: '{format}' } },
      output: ({ body, truncated }) => ({ text: body, truncated }),
    },
    {
      name: 'read_text_file',
      description: 'Reads an uploaded text file, such as .txt, .md, .csv or .json.',
      input: { file_id: fileId },
      required: ['file_id'],
      isReadOnly: true,
      request: { method: 'GET', path: '/drive/v3/files/{file_id}', query: { alt: 'media' } },
      output: ({ body, truncated }) => ({ text: body, truncated }),
    },
    {
      name: 'create_folder',
      description: 'Creates a folder at the top level or in a folder that Atrium created.',
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
