// What each tool of each connector asks its provider, and what it makes of the answer: by the providers' own documents.

export interface ExpectedCall {
  input: object
  /** `GET /user/repos?sort=updated`, as it goes over the wire. */
  asks: string
  body?: unknown
  /** Of a form. */
  form?: Record<string, string>
  headers?: Record<string, string>
  replies: unknown
  /** What the model is told; the whole reply when left out. */
  tells?: unknown
}

const gmailMessage = {
  id: 'm1',
  threadId: 't1',
  labelIds: ['INBOX'],
  snippet: 'Hi',
  sizeEstimate: 1,
  payload: {
    mimeType: 'multipart/mixed',
    headers: [
      { name: 'From', value: 'ann@example.com' },
      { name: 'Subject', value: 'Invoice' },
      { name: 'Received', value: 'noise' },
    ],
    parts: [
      { mimeType: 'text/plain', body: { data: Buffer.from('Grüße, Ann').toString('base64url') } },
      { mimeType: 'application/pdf', filename: 'invoice.pdf', body: { size: 9 } },
    ],
  },
}

const mail = (lines: string[], text: string): string =>
  Buffer.from(
    [
      ...lines,
      'MIME-Version: 1.0',
      'Content-Type: text/plain; charset=utf-8',
      'Content-Transfer-Encoding: base64',
      '',
      Buffer.from(text).toString('base64'),
    ].join('\r\n'),
  ).toString('base64url')

const paragraph = (content: string) => ({
  object: 'block',
  type: 'paragraph',
  paragraph: { rich_text: [{ type: 'text', text: { content } }] },
})

const adf = (...texts: string[]) => ({
  type: 'doc',
  version: 1,
  content: texts.map((text) => ({ type: 'paragraph', content: [{ type: 'text', text }] })),
})

const page = '0123456789abcdef0123456789abcdef'
const base = 'appABCDEFGHIJKLMN'
const record = 'recABCDEFGHIJKLMN'
const sms = `SM${'0123456789abcdef'.repeat(2)}`
const guild = '123456789012345678'
const linear = (variables: object) => ({ variables })

export const expectedCalls: Record<string, Record<string, ExpectedCall>> = {
  github: {
    list_repositories: {
      input: { per_page: 2 },
      asks: 'GET /user/repos?sort=updated&per_page=2',
      headers: { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' },
      replies: [{ id: 1, full_name: 'a/b', private: true, owner: { login: 'a' } }],
      tells: [{ full_name: 'a/b', private: true }],
    },
    search_issues: {
      input: { q: 'repo:a/b is:open "x y" & #1' },
      asks: 'GET /search/issues?q=repo%3Aa%2Fb+is%3Aopen+%22x+y%22+%26+%231',
      replies: {
        total_count: 1,
        incomplete_results: false,
        items: [{ number: 1, user: { login: 'a', id: 2 }, body: 'long' }],
      },
      tells: { total_count: 1, items: [{ number: 1, user: { login: 'a' } }] },
    },
    list_issues: {
      input: { owner: 'a', repo: 'b', labels: 'bug', state: 'all' },
      asks: 'GET /repos/a/b/issues?state=all&labels=bug',
      replies: [{ number: 1, labels: [{ name: 'bug', color: 'f00' }], url: 'x' }],
      tells: [{ number: 1, labels: [{ name: 'bug' }] }],
    },
    get_issue: {
      input: { owner: 'a', repo: 'b', number: 7 },
      asks: 'GET /repos/a/b/issues/7',
      replies: { number: 7, title: 'T', body: 'B', milestone: null, reactions: {} },
      tells: { number: 7, title: 'T', body: 'B', milestone: null },
    },
    create_issue: {
      input: { owner: 'a', repo: 'b', title: 'T', labels: ['bug'] },
      asks: 'POST /repos/a/b/issues',
      body: { title: 'T', labels: ['bug'] },
      replies: { number: 8, html_url: 'https://github.com/a/b/issues/8', id: 1 },
      tells: { number: 8, html_url: 'https://github.com/a/b/issues/8' },
    },
    add_comment: {
      input: { owner: 'a', repo: 'b', number: 7, body: 'Hello {owner}' },
      asks: 'POST /repos/a/b/issues/7/comments',
      body: { body: 'Hello {owner}' },
      replies: { id: 1, html_url: 'u', user: {} },
      tells: { id: 1, html_url: 'u' },
    },
    list_pull_requests: {
      input: { owner: 'a', repo: 'b' },
      asks: 'GET /repos/a/b/pulls',
      replies: [{ number: 3, head: { ref: 'x', sha: 's' }, base: { ref: 'main', sha: 's' } }],
      tells: [{ number: 3, head: { ref: 'x' }, base: { ref: 'main' } }],
    },
    read_file: {
      input: { owner: 'a', repo: 'b', path: 'src/a b/ü#1.ts', ref: 'main' },
      asks: 'GET /repos/a/b/contents/src/a%20b/%C3%BC%231.ts?ref=main',
      headers: { accept: 'application/vnd.github.raw+json' },
      replies: 'const a = 1',
    },
  },
  slack: {
    list_channels: {
      input: { limit: 5 },
      asks: 'GET /api/conversations.list?types=public_channel%2Cprivate_channel&exclude_archived=true&limit=5',
      replies: { ok: true, channels: [{ id: 'C1', name: 'x', creator: 'U' }], response_metadata: { next_cursor: '' } },
      tells: { channels: [{ id: 'C1', name: 'x' }], response_metadata: { next_cursor: '' } },
    },
    read_channel: {
      input: { channel: 'C0123456789' },
      asks: 'GET /api/conversations.history?channel=C0123456789',
      replies: { ok: true, messages: [{ ts: '1.2', text: 'hi', user: 'U1', blocks: [] }], has_more: false },
      tells: { messages: [{ ts: '1.2', text: 'hi', user: 'U1' }], has_more: false },
    },
    read_thread: {
      input: { channel: 'C0123456789', ts: '1.2' },
      asks: 'GET /api/conversations.replies?channel=C0123456789&ts=1.2',
      replies: { ok: true, messages: [] },
      tells: { messages: [] },
    },
    post_message: {
      input: { channel: 'C0123456789', text: 'Hello' },
      asks: 'POST /api/chat.postMessage',
      body: { channel: 'C0123456789', text: 'Hello' },
      replies: { ok: true, channel: 'C0123456789', ts: '1.3', message: {} },
      tells: { channel: 'C0123456789', ts: '1.3' },
    },
    add_reaction: {
      input: { channel: 'C0123456789', timestamp: '1.2', name: 'tada' },
      asks: 'POST /api/reactions.add',
      body: { channel: 'C0123456789', timestamp: '1.2', name: 'tada' },
      replies: { ok: true },
    },
    list_users: {
      input: {},
      asks: 'GET /api/users.list',
      replies: { ok: true, members: [{ id: 'U1', name: 'ann', profile: { email: 'x' } }] },
      tells: { members: [{ id: 'U1', name: 'ann' }] },
    },
  },
  linear: {
    search_issues: {
      input: { term: 'crash' },
      asks: 'POST /graphql',
      body: linear({ term: 'crash' }),
      replies: { data: { searchIssues: { nodes: [] } }, extensions: {} },
      tells: { data: { searchIssues: { nodes: [] } } },
    },
    get_issue: {
      input: { id: 'ENG-1' },
      asks: 'POST /graphql',
      body: linear({ id: 'ENG-1' }),
      replies: { data: { issue: { identifier: 'ENG-1' } } },
    },
    list_teams: {
      input: { first: 3 },
      asks: 'POST /graphql',
      body: linear({ first: 3 }),
      replies: { data: { teams: { nodes: [] } } },
    },
    create_issue: {
      input: { teamId: 't', title: 'T', priority: 2 },
      asks: 'POST /graphql',
      body: linear({ teamId: 't', title: 'T', priority: 2 }),
      replies: { data: { issueCreate: { success: true } } },
    },
    update_issue: {
      input: { id: 'ENG-1', stateId: 's' },
      asks: 'POST /graphql',
      body: linear({ id: 'ENG-1', stateId: 's' }),
      replies: { data: { issueUpdate: { success: true } } },
    },
    add_comment: {
      input: { issueId: 'ENG-1', body: 'Hi' },
      asks: 'POST /graphql',
      body: linear({ issueId: 'ENG-1', body: 'Hi' }),
      replies: { data: { commentCreate: { success: true } } },
    },
  },
  jira: {
    search_issues: {
      input: { jql: 'project = ABC' },
      asks: 'POST /ex/jira/account-1/rest/api/3/search/jql',
      body: { jql: 'project = ABC', fields: ['summary', 'status', 'assignee', 'updated'] },
      replies: {
        issues: [{ id: '1', key: 'ABC-1', fields: { summary: 'S', status: { name: 'Open', id: 1 } } }],
        isLast: true,
      },
      tells: { issues: [{ key: 'ABC-1', fields: { summary: 'S', status: { name: 'Open' } } }], isLast: true },
    },
    get_issue: {
      input: { issue: 'ABC-1' },
      asks: 'GET /ex/jira/account-1/rest/api/3/issue/ABC-1?fields=summary%2Cstatus%2Cassignee%2Creporter%2Cpriority%2Clabels%2Cdescription%2Ccomment%2Cupdated',
      replies: { key: 'ABC-1', self: 'x', fields: { summary: 'S', labels: ['a'] } },
      tells: { key: 'ABC-1', fields: { summary: 'S', labels: ['a'] } },
    },
    list_projects: {
      input: {},
      asks: 'GET /ex/jira/account-1/rest/api/3/project/search?maxResults=50',
      replies: { values: [{ key: 'ABC', name: 'A', id: 1 }], total: 1 },
      tells: { values: [{ key: 'ABC', name: 'A' }], total: 1 },
    },
    list_transitions: {
      input: { issue: 'ABC-1' },
      asks: 'GET /ex/jira/account-1/rest/api/3/issue/ABC-1/transitions',
      replies: { transitions: [{ id: '31', name: 'Done', to: { name: 'Done', id: 1 } }] },
      tells: { transitions: [{ id: '31', name: 'Done', to: { name: 'Done' } }] },
    },
    create_issue: {
      input: { projectKey: 'ABC', issueType: 'Task', summary: 'S', description: 'One' },
      asks: 'POST /ex/jira/account-1/rest/api/3/issue',
      body: { fields: { project: { key: 'ABC' }, issuetype: { name: 'Task' }, summary: 'S', description: adf('One') } },
      replies: { id: '1', key: 'ABC-2', self: 'x' },
      tells: { id: '1', key: 'ABC-2' },
    },
    add_comment: {
      input: { issue: 'ABC-1', body: 'Hello' },
      asks: 'POST /ex/jira/account-1/rest/api/3/issue/ABC-1/comment',
      body: { body: adf('Hello') },
      replies: { id: '5', created: 'now', author: {} },
      tells: { id: '5', created: 'now' },
    },
    move_issue: {
      input: { issue: 'ABC-1', transitionId: '31' },
      asks: 'POST /ex/jira/account-1/rest/api/3/issue/ABC-1/transitions',
      body: { transition: { id: '31' } },
      replies: '',
    },
  },
  notion: {
    search: {
      input: { query: 'Plan' },
      asks: 'POST /v1/search',
      body: { query: 'Plan' },
      headers: { 'notion-version': '2025-09-03' },
      replies: { results: [{ object: 'page', id: page, cover: null }], next_cursor: null },
      tells: { results: [{ object: 'page', id: page }], next_cursor: null },
    },
    get_page: {
      input: { page_id: page },
      asks: `GET /v1/pages/${page}`,
      replies: { id: page, properties: {}, icon: null },
      tells: { id: page, properties: {} },
    },
    read_page: {
      input: { block_id: page },
      asks: `GET /v1/blocks/${page}/children`,
      replies: {
        results: [
          {
            id: 'b',
            type: 'paragraph',
            has_children: false,
            paragraph: { rich_text: [{ plain_text: 'A' }, { plain_text: 'B' }] },
          },
        ],
        next_cursor: null,
      },
      tells: { blocks: [{ id: 'b', type: 'paragraph', has_children: false, text: 'AB' }], next_cursor: null },
    },
    query_data_source: {
      input: { data_source_id: page, filter: { property: 'Status', select: { equals: 'Open' } } },
      asks: `POST /v1/data_sources/${page}/query`,
      body: { filter: { property: 'Status', select: { equals: 'Open' } } },
      replies: { results: [], next_cursor: null },
    },
    create_page: {
      input: { parent_page_id: page, title: 'T', text: 'One' },
      asks: 'POST /v1/pages',
      body: {
        parent: { page_id: page },
        properties: { title: { title: [{ type: 'text', text: { content: 'T' } }] } },
        children: [paragraph('One')],
      },
      replies: { id: page, url: 'u', object: 'page' },
      tells: { id: page, url: 'u' },
    },
    append_text: {
      input: { page_id: page, text: 'Two' },
      asks: `PATCH /v1/blocks/${page}/children`,
      body: { children: [paragraph('Two')] },
      replies: { results: [{ id: 'b', type: 'paragraph' }] },
      tells: { results: [{ id: 'b' }] },
    },
  },
  'google-drive': {
    search_files: {
      input: { query: "Ann's \\ plan" },
      asks: `GET /drive/v3/files?${new URLSearchParams({ q: "fullText contains 'Ann\\'s \\\\ plan' and trashed = false", fields: 'nextPageToken,files(id,name,mimeType,size,modifiedTime,webViewLink,parents)', pageSize: '25' }).toString()}`,
      replies: { files: [{ id: 'f' }], kind: 'drive#fileList' },
      tells: { files: [{ id: 'f' }] },
    },
    list_folder: {
      input: { folder_id: 'root', page_size: 3 },
      asks: `GET /drive/v3/files?${new URLSearchParams({ q: "'root' in parents and trashed = false", fields: 'nextPageToken,files(id,name,mimeType,size,modifiedTime,webViewLink,parents)', pageSize: '3', orderBy: 'folder,name' }).toString()}`,
      replies: { files: [] },
    },
    get_file: {
      input: { file_id: 'file-123456' },
      asks: `GET /drive/v3/files/file-123456?${new URLSearchParams({ fields: 'id,name,mimeType,size,modifiedTime,webViewLink,parents,owners(emailAddress)' }).toString()}`,
      replies: { id: 'file-123456', name: 'n' },
    },
    read_document: {
      input: { file_id: 'file-123456', format: 'text/plain' },
      asks: 'GET /drive/v3/files/file-123456/export?mimeType=text%2Fplain',
      replies: 'Some text',
      tells: { text: 'Some text', truncated: false },
    },
    read_text_file: {
      input: { file_id: 'file-123456' },
      asks: 'GET /drive/v3/files/file-123456?alt=media',
      replies: 'a,b',
      tells: { text: 'a,b', truncated: false },
    },
    create_folder: {
      input: { name: 'New' },
      asks: `POST /drive/v3/files?${new URLSearchParams({ fields: 'id,name,mimeType,size,modifiedTime,webViewLink,parents' }).toString()}`,
      body: { name: 'New', mimeType: 'application/vnd.google-apps.folder', parents: [] },
      replies: { id: 'x' },
    },
  },
  gmail: {
    search_messages: {
      input: { q: 'from:ann' },
      asks: 'GET /gmail/v1/users/me/messages?q=from%3Aann',
      replies: { messages: [{ id: 'm1', threadId: 't1' }], resultSizeEstimate: 1 },
    },
    get_message: {
      input: { message_id: 'm1234' },
      asks: 'GET /gmail/v1/users/me/messages/m1234?format=full',
      replies: gmailMessage,
      tells: {
        id: 'm1',
        threadId: 't1',
        labelIds: ['INBOX'],
        from: 'ann@example.com',
        to: null,
        cc: null,
        date: null,
        subject: 'Invoice',
        text: 'Grüße, Ann',
        attachments: ['invoice.pdf'],
      },
    },
    list_labels: {
      input: {},
      asks: 'GET /gmail/v1/users/me/labels',
      replies: { labels: [{ id: 'L', name: 'n', type: 'user', color: {} }] },
      tells: { labels: [{ id: 'L', name: 'n', type: 'user' }] },
    },
    create_draft: {
      input: { to: 'bob@example.com', text: 'Hi' },
      asks: 'POST /gmail/v1/users/me/drafts',
      body: { message: { raw: mail(['To: bob@example.com', 'Subject: '], 'Hi') } },
      replies: { id: 'd', message: { id: 'm', threadId: 't' } },
      tells: { id: 'd', message: { id: 'm' } },
    },
    send_message: {
      input: { to: 'bob@example.com', cc: 'c@example.com', subject: 'Grüße', text: 'Hallo' },
      asks: 'POST /gmail/v1/users/me/messages/send',
      body: {
        raw: mail(
          [
            'To: bob@example.com',
            'Cc: c@example.com',
            `Subject: =?UTF-8?B?${Buffer.from('Grüße').toString('base64')}?=`,
          ],
          'Hallo',
        ),
      },
      replies: { id: 'm', threadId: 't', labelIds: [] },
      tells: { id: 'm', threadId: 't' },
    },
  },
  discord: {
    list_servers: {
      input: {},
      asks: 'GET /api/v10/users/@me/guilds',
      replies: [{ id: guild, name: 'G', icon: null }],
      tells: [{ id: guild, name: 'G' }],
    },
    list_channels: {
      input: { server_id: guild },
      asks: `GET /api/v10/guilds/${guild}/channels`,
      replies: [{ id: guild, name: 'c', type: 0, nsfw: false }],
      tells: [{ id: guild, name: 'c', type: 0 }],
    },
    read_messages: {
      input: { channel_id: guild, limit: 10 },
      asks: `GET /api/v10/channels/${guild}/messages?limit=10`,
      replies: [{ id: guild, content: 'hi', author: { id: '1', username: 'a', avatar: null }, embeds: [] }],
      tells: [{ id: guild, content: 'hi', author: { id: '1', username: 'a' } }],
    },
    send_message: {
      input: { channel_id: guild, content: '@everyone hi' },
      asks: `POST /api/v10/channels/${guild}/messages`,
      body: { content: '@everyone hi', allowed_mentions: { parse: [] } },
      replies: { id: guild, channel_id: guild, author: {} },
      tells: { id: guild, channel_id: guild },
    },
  },
  stripe: {
    list_customers: {
      input: { email: 'ann@example.com', limit: 2 },
      asks: 'GET /v1/customers?email=ann%40example.com&limit=2',
      replies: { data: [{ id: 'cus_1', name: 'Ann', metadata: {} }], has_more: false, object: 'list' },
      tells: { data: [{ id: 'cus_1', name: 'Ann' }], has_more: false },
    },
    list_payments: {
      input: { customer: 'cus_1' },
      asks: 'GET /v1/payment_intents?customer=cus_1',
      replies: { data: [{ id: 'pi_1', amount: 5, client_secret: 'x' }], has_more: false },
      tells: { data: [{ id: 'pi_1', amount: 5 }], has_more: false },
    },
    list_invoices: {
      input: { status: 'open' },
      asks: 'GET /v1/invoices?status=open',
      replies: { data: [], has_more: false },
    },
    list_subscriptions: {
      input: {},
      asks: 'GET /v1/subscriptions',
      replies: {
        data: [{ id: 'sub_1', items: { data: [{ id: 'x', price: { id: 'p', unit_amount: 5, type: 'y' } }] } }],
      },
      tells: { data: [{ id: 'sub_1', items: { data: [{ price: { id: 'p', unit_amount: 5 } }] } }] },
    },
    get_balance: {
      input: {},
      asks: 'GET /v1/balance',
      replies: { available: [{ amount: 5, currency: 'usd', source_types: {} }], livemode: false },
      tells: { available: [{ amount: 5, currency: 'usd' }] },
    },
    create_customer: {
      input: { email: 'ann@example.com', name: 'Ann & Co' },
      asks: 'POST /v1/customers',
      form: { email: 'ann@example.com', name: 'Ann & Co' },
      replies: { id: 'cus_2', email: 'ann@example.com', object: 'customer' },
      tells: { id: 'cus_2', email: 'ann@example.com' },
    },
  },
  telegram: {
    send_message: {
      input: { chat_id: 5, text: 'Hi', reply_to: 7 },
      asks: 'POST /bot123:planted-key/sendMessage',
      body: { chat_id: 5, text: 'Hi', reply_parameters: { message_id: 7 } },
      replies: { ok: true, result: { message_id: 8, date: 1, chat: {} } },
      tells: { result: { message_id: 8, date: 1 } },
    },
    send_photo: {
      input: { chat_id: '@channel', photo: 'https://example.com/a.png' },
      asks: 'POST /bot123:planted-key/sendPhoto',
      body: { chat_id: '@channel', photo: 'https://example.com/a.png' },
      replies: { ok: true, result: { message_id: 9, date: 1, photo: [] } },
      tells: { result: { message_id: 9, date: 1 } },
    },
    edit_message: {
      input: { chat_id: 5, message_id: 8, text: 'Ho' },
      asks: 'POST /bot123:planted-key/editMessageText',
      body: { chat_id: 5, message_id: 8, text: 'Ho' },
      replies: { ok: true, result: { message_id: 8, edit_date: 2, text: 'Ho' } },
      tells: { result: { message_id: 8, edit_date: 2 } },
    },
    get_chat: {
      input: { chat_id: 5 },
      asks: 'POST /bot123:planted-key/getChat',
      body: { chat_id: 5 },
      replies: { ok: true, result: { id: 5, type: 'private', first_name: 'Ann', accent_color_id: 1 } },
      tells: { result: { id: 5, type: 'private', first_name: 'Ann' } },
    },
    list_administrators: {
      input: { chat_id: 5 },
      asks: 'POST /bot123:planted-key/getChatAdministrators',
      body: { chat_id: 5 },
      replies: { ok: true, result: [{ status: 'creator', user: { id: 1, is_bot: false } }] },
      tells: { result: [{ status: 'creator', user: { id: 1 } }] },
    },
  },
  twilio: {
    send_message: {
      input: { from: '+14155550100', to: '+14155550101', body: 'Hi & bye' },
      asks: 'POST /2010-04-01/Accounts/AC123/Messages.json',
      form: { From: '+14155550100', To: '+14155550101', Body: 'Hi & bye' },
      replies: { sid: sms, status: 'queued', uri: 'x' },
      tells: { sid: sms, status: 'queued' },
    },
    list_messages: {
      input: { to: '+14155550101' },
      asks: 'GET /2010-04-01/Accounts/AC123/Messages.json?To=%2B14155550101',
      replies: { messages: [{ sid: sms, body: 'Hi', uri: 'x' }], page: 0 },
      tells: { messages: [{ sid: sms, body: 'Hi' }] },
    },
    get_message: {
      input: { sid: sms },
      asks: `GET /2010-04-01/Accounts/AC123/Messages/${sms}.json`,
      replies: { sid: sms, status: 'delivered', price: '1' },
      tells: { sid: sms, status: 'delivered' },
    },
    list_numbers: {
      input: {},
      asks: 'GET /2010-04-01/Accounts/AC123/IncomingPhoneNumbers.json',
      replies: { incoming_phone_numbers: [{ sid: 'PN1', phone_number: '+1', voice_url: '' }] },
      tells: { incoming_phone_numbers: [{ sid: 'PN1', phone_number: '+1' }] },
    },
  },
  airtable: {
    list_bases: {
      input: {},
      asks: 'GET /v0/meta/bases',
      replies: { bases: [{ id: base, name: 'B', permissionLevel: 'create' }] },
    },
    list_tables: {
      input: { base },
      asks: `GET /v0/meta/bases/${base}/tables`,
      replies: {
        tables: [{ id: 'tbl', name: 'T', primaryFieldId: 'x', fields: [{ id: 'f', name: 'F', type: 'text' }] }],
      },
      tells: { tables: [{ id: 'tbl', name: 'T', fields: [{ name: 'F', type: 'text' }] }] },
    },
    list_records: {
      input: { base, table: 'My / Table?', filter: "{Status} = 'Open'" },
      asks: `GET /v0/${base}/My%20%2F%20Table%3F?filterByFormula=%7BStatus%7D+%3D+%27Open%27`,
      replies: { records: [] },
    },
    get_record: {
      input: { base, table: 'T', record },
      asks: `GET /v0/${base}/T/${record}`,
      replies: { id: record, fields: {} },
    },
    create_record: {
      input: { base, table: 'T', fields: { Name: 'Ann' } },
      asks: `POST /v0/${base}/T`,
      body: { fields: { Name: 'Ann' } },
      replies: { id: record, fields: { Name: 'Ann' } },
    },
    update_record: {
      input: { base, table: 'T', record, fields: { Name: 'Bob' } },
      asks: `PATCH /v0/${base}/T/${record}`,
      body: { fields: { Name: 'Bob' } },
      replies: { id: record, fields: { Name: 'Bob' } },
    },
  },
  hubspot: {
    search_contacts: {
      input: { query: 'ann', limit: 2 },
      asks: 'POST /crm/v3/objects/contacts/search',
      body: {
        query: 'ann',
        limit: 2,
        properties: ['email', 'firstname', 'lastname', 'company', 'phone', 'lifecyclestage'],
      },
      replies: { total: 1, results: [{ id: '1', properties: { email: 'a' }, archived: false }] },
      tells: { total: 1, results: [{ id: '1', properties: { email: 'a' } }] },
    },
    search_companies: {
      input: {},
      asks: 'POST /crm/v3/objects/companies/search',
      body: { properties: ['name', 'domain', 'industry', 'city', 'country'] },
      replies: { total: 0, results: [] },
    },
    search_deals: {
      input: { after: '10' },
      asks: 'POST /crm/v3/objects/deals/search',
      body: { after: '10', properties: ['dealname', 'amount', 'dealstage', 'pipeline', 'closedate'] },
      replies: { total: 0, results: [] },
    },
    get_contact: {
      input: { contact_id: '7' },
      asks: 'GET /crm/v3/objects/contacts/7?properties=email%2Cfirstname%2Clastname%2Ccompany%2Cphone%2Clifecyclestage',
      replies: { id: '7', properties: {}, archived: false },
      tells: { id: '7', properties: {} },
    },
    create_contact: {
      input: { email: 'ann@example.com', firstname: 'Ann' },
      asks: 'POST /crm/v3/objects/contacts',
      body: { properties: { email: 'ann@example.com', firstname: 'Ann' } },
      replies: { id: '8', properties: {}, createdAt: 'x' },
      tells: { id: '8', properties: {} },
    },
  },
  http: {
    get: {
      input: { path: '/users/42', query: { active: true, q: 'a b' } },
      asks: 'GET /v1/users/42?active=true&q=a+b',
      replies: { id: 42 },
    },
    post: { input: { path: 'users/', body: { a: 1 } }, asks: 'POST /v1/users/', body: { a: 1 }, replies: { id: 1 } },
    put: { input: { path: '/users/1', body: { a: 2 } }, asks: 'PUT /v1/users/1', body: { a: 2 }, replies: { id: 1 } },
    patch: { input: { path: '/users/1', body: [1] }, asks: 'PATCH /v1/users/1', body: [1], replies: { id: 1 } },
    delete: { input: { path: '/users/1' }, asks: 'DELETE /v1/users/1', replies: '' },
  },
}
