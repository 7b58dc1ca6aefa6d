import type { Connector } from '../definition.ts'

const base = { type: 'string', pattern: '^app[A-Za-z0-9]{14}$', description: 'ID of the base, app…' }
const table = { type: 'string', minLength: 1, maxLength: 255, description: 'ID or name of the table' }
const record = { type: 'string', pattern: '^rec[A-Za-z0-9]{14}$', description: 'ID of the record, rec…' }
const fields = { type: 'object', description: 'Values by field name' }

export const connector: Connector = {
  slug: 'airtable',
  name: 'Airtable',
  category: 'documents',
  description: 'Bases, tables and records.',
  auth: {
    type: 'api_key',
    fields: [
      {
        key: 'token',
        label: 'Personal access token',
        required: true,
        secret: true,
        help: 'From airtable.com/create/tokens, with data.records:read, data.records:write and schema.bases:read',
      },
    ],
    check: { from: { method: 'GET', path: '/v0/meta/whoami' }, id: 'id', name: 'email' },
  },
  api: {
    baseUrl: 'https://api.airtable.com',
    headers: { authorization: 'Bearer {token}' },
    errorMessage: ['error.message', 'error.type', 'error'],
  },
  tools: [
    {
      name: 'list_bases',
      description: 'Lists the bases that the token can access.',
      input: {},
      isReadOnly: true,
      request: { method: 'GET', path: '/v0/meta/bases' },
      output: ['bases.id', 'bases.name', 'bases.permissionLevel', 'offset'],
    },
    {
      name: 'list_tables',
      description: 'Lists the tables of a base with their fields.',
      input: { base },
      required: ['base'],
      isReadOnly: true,
      request: { method: 'GET', path: '/v0/meta/bases/{base}/tables' },
      output: ['tables.id', 'tables.name', 'tables.fields.name', 'tables.fields.type'],
    },
    {
      name: 'list_records',
      description: "Lists records of a table, filtered with an Airtable formula, such as `{Status} = 'Open'`.",
      input: {
        base,
        table,
        filter: { type: 'string', description: 'A formula' },
        view: { type: 'string', description: 'ID or name of a view' },
        page_size: { type: 'integer', minimum: 1, maximum: 100 },
        offset: { type: 'string', description: 'offset of the previous page' },
      },
      required: ['base', 'table'],
      isReadOnly: true,
      request: {
        method: 'GET',
        path: '/v0/{base}/{table}',
        query: { filterByFormula: '{filter}', view: '{view}', pageSize: '{page_size}', offset: '{offset}' },
      },
    },
    {
      name: 'get_record',
      description: 'Reads one record.',
      input: { base, table, record },
      required: ['base', 'table', 'record'],
      isReadOnly: true,
      request: { method: 'GET', path: '/v0/{base}/{table}/{record}' },
    },
    {
      name: 'create_record',
      description: 'Adds a record to a table.',
      input: { base, table, fields },
      required: ['base', 'table', 'fields'],
      isReadOnly: false,
      request: { method: 'POST', path: '/v0/{base}/{table}', json: { fields: '{fields}' } },
    },
    {
      name: 'update_record',
      description: 'Updates fields of a record. Other fields stay unchanged.',
      input: { base, table, record, fields },
      required: ['base', 'table', 'record', 'fields'],
      isReadOnly: false,
      request: { method: 'PATCH', path: '/v0/{base}/{table}/{record}', json: { fields: '{fields}' } },
    },
  ],
}
