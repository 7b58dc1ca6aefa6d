import type { Connector, ConnectorTool } from '../definition.ts'

const contact = ['email', 'firstname', 'lastname', 'company', 'phone', 'lifecyclestage']
const company = ['name', 'domain', 'industry', 'city', 'country']
const deal = ['dealname', 'amount', 'dealstage', 'pipeline', 'closedate']

const search = (objects: string, properties: string[]): ConnectorTool => ({
  name: `search_${objects}`,
  description: `Searches ${objects} by words in their default searchable properties. Without a query it lists them.`,
  input: {
    query: { type: 'string', maxLength: 3_000 },
    limit: { type: 'integer', minimum: 1, maximum: 100 },
    after: { type: 'string', description: 'paging.next.after of the previous page' },
  },
  isReadOnly: true,
  request: {
    method: 'POST',
    path: `/crm/v3/objects/${objects}/search`,
    json: { query: '{query}', limit: '{limit}', after: '{after}', properties },
  },
  output: ['total', 'results.id', 'results.properties', 'paging.next.after'],
})

export const connector: Connector = {
  slug: 'hubspot',
  name: 'HubSpot',
  category: 'business',
  description: 'Contacts, companies and deals of a HubSpot account.',
  auth: {
    type: 'oauth',
    registrationUrl: 'https://developers.hubspot.com',
    authorizeUrl: 'https://app.hubspot.com/oauth/authorize',
    tokenUrl: 'https://api.hubapi.com/oauth/2026-03/token',
    scopes: [
      'oauth',
      'crm.objects.contacts.read',
      'crm.objects.contacts.write',
      'crm.objects.companies.read',
      'crm.objects.deals.read',
    ],
    account: { from: { method: 'GET', path: '/account-info/v3/details' }, id: 'portalId', name: 'uiDomain' },
    revoke: {
      method: 'POST',
      url: 'https://api.hubapi.com/oauth/2026-03/token/revoke',
      form: {
        token: '{refreshToken}',
        token_type_hint: 'refresh_token',
        client_id: '{clientId}',
        client_secret: '{clientSecret}',
      },
      requires: 'refreshToken',
    },
  },
  api: { baseUrl: 'https://api.hubapi.com', errorMessage: ['message'] },
  tools: [
    search('contacts', contact),
    search('companies', company),
    search('deals', deal),
    {
      name: 'get_contact',
      description: 'Reads one contact.',
      input: { contact_id: { type: 'string', pattern: '^[0-9]+$' } },
      required: ['contact_id'],
      isReadOnly: true,
      request: {
        method: 'GET',
        path: '/crm/v3/objects/contacts/{contact_id}',
        query: { properties: contact.join(',') },
      },
      output: ['id', 'properties', 'createdAt', 'updatedAt'],
    },
    {
      name: 'create_contact',
      description: 'Creates a contact.',
      input: {
        email: { type: 'string', format: 'email' },
        firstname: { type: 'string' },
        lastname: { type: 'string' },
        company: { type: 'string' },
        phone: { type: 'string' },
      },
      required: ['email'],
      isReadOnly: false,
      request: {
        method: 'POST',
        path: '/crm/v3/objects/contacts',
        json: {
          properties: {
            email: '{email}',
            firstname: '{firstname}',
            lastname: '{lastname}',
            company: '{company}',
            phone: '{phone}',
          },
        },
      },
      output: ['id', 'properties'],
    },
  ],
}
