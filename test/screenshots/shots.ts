import type { Page } from 'playwright-core'
import { password } from '../support/console.ts'
import type { Sample } from './sample.ts'

export interface Shot {
  /** File name without theme and extension. */
  name: string
  path: string | ((sample: Sample) => string)
  /** Interactions before the screenshot. */
  prepare?: (page: Page, sample: Sample) => Promise<void>
  signedOut?: boolean
  phone?: boolean
  /** Only tested: not in docs/screenshots. */
  isTestOnly?: boolean
}

/** Every page, and important states of some pages. */
export const shots: Shot[] = [
  { name: 'sign-in', path: '/sign-in', signedOut: true },
  { name: 'home', path: '/' },
  { name: 'home-phone', path: '/', phone: true },
  { name: 'files', path: ({ folderId }) => `/files/${folderId}` },
  { name: 'files-phone', path: ({ folderId }) => `/files/${folderId}`, phone: true },
  {
    name: 'files-selected',
    path: ({ folderId }) => `/files/${folderId}`,
    prepare: async (page) => {
      await page.getByLabel('Select Creative brief.docx').check({ force: true })
      await page.getByLabel('Select Launch plan.md').check({ force: true })
      await page.getByRole('button', { name: 'Actions', exact: true }).click()
    },
  },
  { name: 'files-recent', path: '/files/recent' },
  { name: 'files-favorites', path: '/files/favorites' },
  { name: 'files-storage', path: '/files/usage' },
  { name: 'files-storage-phone', path: '/files/usage', phone: true },
  { name: 'files-trash', path: '/files/trash' },
  { name: 'preview-spreadsheet', path: ({ folderId, ids }) => `/files/${folderId}?open=${ids['Sales by region.csv']}` },
  { name: 'preview-document', path: ({ folderId, ids }) => `/files/${folderId}?open=${ids['Creative brief.docx']}` },
  {
    name: 'preview-picture',
    path: ({ folderId, ids }) => `/files/${folderId}?open=${ids['Chair on the terrace.png']}`,
  },
  { name: 'chat', path: ({ ids }) => `/chat/${ids['session']}` },
  { name: 'chat-phone', path: ({ ids }) => `/chat/${ids['session']}`, phone: true },
  { name: 'agents', path: '/agents' },
  { name: 'agent-settings', path: ({ ids }) => `/agents/${ids['editor']}/settings` },
  { name: 'agent-new', path: '/agents/new', isTestOnly: true },
  { name: 'agent-conversations', path: ({ ids }) => `/agents/${ids['editor']}`, isTestOnly: true },
  { name: 'agent-messages', path: ({ ids }) => `/agents/${ids['editor']}/messages`, isTestOnly: true },
  { name: 'agent-connections', path: ({ ids }) => `/agents/${ids['editor']}/connections`, isTestOnly: true },
  { name: 'webhooks', path: '/webhooks' },
  { name: 'webhooks-events', path: '/webhooks/events', isTestOnly: true },
  { name: 'webhook', path: ({ ids }) => `/webhooks/${ids['webhook']}` },
  { name: 'webhook-deliveries', path: ({ ids }) => `/webhooks/${ids['webhook']}/deliveries`, isTestOnly: true },
  { name: 'webhook-settings', path: ({ ids }) => `/webhooks/${ids['webhook']}/settings`, isTestOnly: true },
  { name: 'events', path: '/events' },
  {
    name: 'event',
    path: '/events?type=agent.created',
    isTestOnly: true,
    prepare: async (page) => {
      await page.getByRole('link', { name: 'agent.created' }).first().click()
      await page.getByRole('dialog').getByText('"isDelivered"').waitFor()
    },
  },
  { name: 'event-endpoints', path: '/events/endpoints', isTestOnly: true },
  {
    name: 'event-endpoint-new',
    path: '/events/endpoints?new',
    isTestOnly: true,
    prepare: async (page) => {
      await page.getByLabel('All events').uncheck()
      await page.locator('summary', { hasText: 'Files' }).click()
      await page.getByLabel('Selected workspaces').check()
    },
  },
  { name: 'event-endpoint', path: ({ ids }) => `/events/endpoints/${ids['endpoint']}`, isTestOnly: true },
  {
    name: 'event-endpoint-delivery',
    path: ({ ids }) => `/events/endpoints/${ids['endpoint']}`,
    isTestOnly: true,
    prepare: async (page) => {
      await page.getByRole('link', { name: 'agent.updated' }).click()
      await page.getByText('A test event with example data.').waitFor()
    },
  },
  {
    name: 'event-endpoint-settings',
    path: ({ ids }) => `/events/endpoints/${ids['endpoint']}/settings`,
    isTestOnly: true,
  },
  { name: 'event-types', path: '/events/types', isTestOnly: true },
  { name: 'event-type', path: '/events/types?open=agent.updated', isTestOnly: true },
  { name: 'connections', path: '/connections' },
  { name: 'connector-setup', path: '/connections?setup=notion', isTestOnly: true },
  { name: 'billing', path: '/billing' },
  { name: 'billing-spending', path: '/billing/spending' },
  { name: 'billing-transactions', path: '/billing/transactions' },
  { name: 'billing-usage', path: '/billing/usage', isTestOnly: true },
  { name: 'billing-plans', path: '/billing/plans' },
  { name: 'settings-profile', path: '/settings/profile' },
  { name: 'settings-organization', path: '/settings/organization', isTestOnly: true },
  { name: 'settings-members', path: '/settings/members' },
  { name: 'settings-workspaces', path: '/settings/workspaces' },
  { name: 'settings-projects', path: '/settings/projects' },
  { name: 'settings-api-keys', path: '/settings/api-keys' },
  { name: 'settings-api-keys-phone', path: '/settings/api-keys', phone: true },
  { name: 'settings-authorized-apps', path: '/settings/authorized-apps', isTestOnly: true },
  { name: 'settings-audit-log', path: '/settings/audit-log' },
  {
    name: 'api-key-new',
    path: '/settings/api-keys',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Create key' }).click()
      await page.getByLabel('Name').fill('Warehouse scanner')
      await page.getByLabel('Selected scopes').check()
      await page.getByRole('radiogroup', { name: 'Files' }).getByLabel('Write').check()
      await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
      await page.getByLabel('Password').fill(password)
      await page.getByRole('button', { name: 'Confirm' }).click()
      await page.getByText('Copy the key now').waitFor()
    },
  },
  {
    name: 'palette',
    path: ({ folderId }) => `/files/${folderId}`,
    prepare: async (page) => {
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: 'Search and commands' }).fill('se')
      await page
        .getByRole('option', { name: /^Settings/ })
        .and(page.locator('[aria-selected=true]'))
        .waitFor()
    },
  },
]
