// The request and the output of each connector tool, from the providers' API references.

export interface ExpectedCall {
  input: object
  /** Method, encoded path and query: `GET /user/repos?sort=updated`. */
  request: string
  body?: unknown
  /** Fields of a form body. */
  form?: Record<string, string>
  headers?: Record<string, string>
  response: unknown
  /** The tool output. Default: the whole response. */
  output?: unknown
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
      request: 'GET /user/repos?sort=updated&per_page=2',
      headers: { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' },
      response: [{ id: 1, full_name: 'a/b', private: true, owner: { login: 'a' } }],
      output: [{ full_name: 'a/b', private: true }],
    },
    search_issues: {
      input: { q: 'repo:a/b is:open "x y" & #1' },
      request: 'GET /search/issues?q=repo%3Aa%2Fb+is%3Aopen+%22x+y%22+%26+%231',
      response: {
        total_count: 1,
        incomplete_results: false,
        items: [{ number: 1, user: { login: 'a', id: 2 }, body: 'long' }],
      },
      output: { total_count: 1, items: [{ number: 1, user: { login: 'a' } }] },
    },
    list_issues: {
      input: { owner: 'a', repo: 'b', labels: 'bug', state: 'all' },
      request: 'GET /repos/a/b/issues?state=all&labels=bug',
      response: [{ number: 1, labels: [{ name: 'bug', color: 'f00' }], url: 'x' }],
      output: [{ number: 1, labels: [{ name: 'bug' }] }],
    },
    get_issue: {
      input: { owner: 'a', repo: 'b', number: 7 },
      request: 'GET /repos/a/b/issues/7',
      response: { number: 7, title: 'T', body: 'B', milestone: null, reactions: {} },
      output: { number: 7, title: 'T', body: 'B', milestone: null },
    },
    create_issue: {
      input: { owner: 'a', repo: 'b', title: 'T', labels: ['bug'] },
      request: 'POST /repos/a/b/issues',
      body: { title: 'T', labels: ['bug'] },
      response: { number: 8, html_url: 'https://github.com/a/b/issues/8', id: 1 },
      output: { number: 8, html_url: 'https://github.com/a/b/issues/8' },
    },
    add_comment: {
      input: { owner: 'a', repo: 'b', number: 7, body: 'Hello {owner}' },
      request: 'POST /repos/a/b/issues/7/comments',
      body: { body: 'Hello {owner}' },
      response: { id: 1, html_url: 'u', user: {} },
      output: { id: 1, html_url: 'u' },
    },
    list_pull_requests: {
      input: { owner: 'a', repo: 'b' },
      request: 'GET /repos/a/b/pulls',
      response: [{ number: 3, head: { ref: 'x', sha: 's' }, base: { ref: 'main', sha: 's' } }],
      output: [{ number: 3, head: { ref: 'x' }, base: { ref: 'main' } }],
    },
    read_file: {
      input: { owner: 'a', repo: 'b', path: 'src/a b/ü#1.ts', ref: 'main' },
      request: 'GET /repos/a/b/contents/src/a%20b/%C3%BC%231.ts?ref=main',
      headers: { accept: 'application/vnd.github.raw+json' },
      response: 'const a = 1',
    },
  },
  slack: {
    list_channels: {
      input: { limit: 5 },
      request: 'GET /api/conversations.list?types=public_channel%2Cprivate_channel&exclude_archived=true&limit=5',
      response: { ok: true, channels: [{ id: 'C1', name: 'x', creator: 'U' }], response_metadata: { next_cursor: '' } },
      output: { channels: [{ id: 'C1', name: 'x' }], response_metadata: { next_cursor: '' } },
    },
    read_channel: {
      input: { channel: 'C0123456789' },
      request: 'GET /api/conversations.history?channel=C0123456789',
      response: { ok: true, messages: [{ ts: '1.2', text: 'hi', user: 'U1', blocks: [] }], has_more: false },
      output: { messages: [{ ts: '1.2', text: 'hi', user: 'U1' }], has_more: false },
    },
    read_thread: {
      input: { channel: 'C0123456789', ts: '1.2' },
      request: 'GET /api/conversations.replies?channel=C0123456789&ts=1.2',
      response: { ok: true, messages: [] },
      output: { messages: [] },
    },
    post_message: {
      input: { channel: 'C0123456789', text: 'Hello' },
      request: 'POST /api/chat.postMessage',
      body: { channel: 'C0123456789', text: 'Hello' },
      response: { ok: true, channel: 'C0123456789', ts: '1.3', message: {} },
      output: { channel: 'C0123456789', ts: '1.3' },
    },
    add_reaction: {
      input: { channel: 'C0123456789', timestamp: '1.2', name: 'tada' },
      request: 'POST /api/reactions.add',
      body: { channel: 'C0123456789', timestamp: '1.2', name: 'tada' },
      response: { ok: true },
    },
    list_users: {
      input: {},
      request: 'GET /api/users.list',
      response: { ok: true, members: [{ id: 'U1', name: 'ann', profile: { email: 'x' } }] },
      output: { members: [{ id: 'U1', name: 'ann' }] },
    },
  },
  linear: {
    search_issues: {
      input: { term: 'crash' },
      request: 'POST /graphql',
      body: linear({ term: 'crash' }),
      response: { data: { searchIssues: { nodes: [] } }, extensions: {} },
      output: { data: { searchIssues: { nodes: [] } } },
    },
    get_issue: {
      input: { id: 'ENG-1' },
      request: 'POST /graphql',
      body: linear({ id: 'ENG-1' }),
      response: { data: { issue: { identifier: 'ENG-1' } } },
    },
    list_teams: {
      input: { first: 3 },
      request: 'POST /graphql',
      body: linear({ first: 3 }),
      response: { data: { teams: { nodes: [] } } },
    },
    create_issue: {
      input: { teamId: 't', title: 'T', priority: 2 },
      request: 'POST /graphql',
      body: linear({ teamId: 't', title: 'T', priority: 2 }),
      response: { data: { issueCreate: { success: true } } },
    },
    update_issue: {
      input: { id: 'ENG-1', stateId: 's' },
      request: 'POST /graphql',
      body: linear({ id: 'ENG-1', stateId: 's' }),
      response: { data: { issueUpdate: { success: true } } },
    },
    add_comment: {
      input: { issueId: 'ENG-1', body: 'Hi' },
      request: 'POST /graphql',
      body: linear({ issueId: 'ENG-1', body: 'Hi' }),
      response: { data: { commentCreate: { success: true } } },
    },
  },
  jira: {
    search_issues: {
      input: { jql: 'project = ABC' },
      request: 'POST /ex/jira/account-1/rest/api/3/search/jql',
      body: { jql: 'project = ABC', fields: ['summary', 'status', 'assignee', 'updated'] },
      response: {
        issues: [{ id: '1', key: 'ABC-1', fields: { summary: 'S', status: { name: 'Open', id: 1 } } }],
        isLast: true,
      },
      output: { issues: [{ key: 'ABC-1', fields: { summary: 'S', status: { name: 'Open' } } }], isLast: true },
    },
    get_issue: {
      input: { issue: 'ABC-1' },
      request:
        'GET /ex/jira/account-1/rest/api/3/issue/ABC-1?fields=summary%2Cstatus%2Cassignee%2Creporter%2Cpriority%2Clabels%2Cdescription%2Ccomment%2Cupdated',
      response: { key: 'ABC-1', self: 'x', fields: { summary: 'S', labels: ['a'] } },
      output: { key: 'ABC-1', fields: { summary: 'S', labels: ['a'] } },
    },
    list_projects: {
      input: {},
      request: 'GET /ex/jira/account-1/rest/api/3/project/search?maxResults=50',
      response: { values: [{ key: 'ABC', name: 'A', id: 1 }], total: 1 },
      output: { values: [{ key: 'ABC', name: 'A' }], total: 1 },
    },
    list_transitions: {
      input: { issue: 'ABC-1' },
      request: 'GET /ex/jira/account-1/rest/api/3/issue/ABC-1/transitions',
      response: { transitions: [{ id: '31', name: 'Done', to: { name: 'Done', id: 1 } }] },
      output: { transitions: [{ id: '31', name: 'Done', to: { name: 'Done' } }] },
    },
    create_issue: {
      input: { projectKey: 'ABC', issueType: 'Task', summary: 'S', description: 'One' },
      request: 'POST /ex/jira/account-1/rest/api/3/issue',
      body: { fields: { project: { key: 'ABC' }, issuetype: { name: 'Task' }, summary: 'S', description: adf('One') } },
      response: { id: '1', key: 'ABC-2', self: 'x' },
      output: { id: '1', key: 'ABC-2' },
    },
    add_comment: {
      input: { issue: 'ABC-1', body: 'Hello' },
      request: 'POST /ex/jira/account-1/rest/api/3/issue/ABC-1/comment',
      body: { body: adf('Hello') },
      response: { id: '5', created: 'now', author: {} },
      output: { id: '5', created: 'now' },
    },
    move_issue: {
      input: { issue: 'ABC-1', transitionId: '31' },
      request: 'POST /ex/jira/account-1/rest/api/3/issue/ABC-1/transitions',
      body: { transition: { id: '31' } },
      response: '',
    },
  },
  notion: {
    search: {
      input: { query: 'Plan' },
      request: 'POST /v1/search',
      body: { query: 'Plan' },
      headers: { 'notion-version': '2025-09-03' },
      response: { results: [{ object: 'page', id: page, cover: null }], next_cursor: null },
      output: { results: [{ object: 'page', id: page }], next_cursor: null },
    },
    get_page: {
      input: { page_id: page },
      request: `GET /v1/pages/${page}`,
      response: { id: page, properties: {}, icon: null },
      output: { id: page, properties: {} },
    },
    read_page: {
      input: { block_id: page },
      request: `GET /v1/blocks/${page}/children`,
      response: {
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
      output: { blocks: [{ id: 'b', type: 'paragraph', has_children: false, text: 'AB' }], next_cursor: null },
    },
    query_data_source: {
      input: { data_source_id: page, filter: { property: 'Status', select: { equals: 'Open' } } },
      request: `POST /v1/data_sources/${page}/query`,
      body: { filter: { property: 'Status', select: { equals: 'Open' } } },
      response: { results: [], next_cursor: null },
    },
    create_page: {
      input: { parent_page_id: page, title: 'T', text: 'One' },
      request: 'POST /v1/pages',
      body: {
        parent: { page_id: page },
        properties: { title: { title: [{ type: 'text', text: { content: 'T' } }] } },
        children: [paragraph('One')],
      },
      response: { id: page, url: 'u', object: 'page' },
      output: { id: page, url: 'u' },
    },
    append_text: {
      input: { page_id: page, text: 'Two' },
      request: `PATCH /v1/blocks/${page}/children`,
      body: { children: [paragraph('Two')] },
      response: { results: [{ id: 'b', type: 'paragraph' }] },
      output: { results: [{ id: 'b' }] },
    },
  },
  'google-drive': {
    search_files: {
      input: { query: "Ann's \\ plan" },
      request: `GET /drive/v3/files?${new URLSearchParams({ q: "fullText contains 'Ann\\'s \\\\ plan' and trashed = false", fields: 'nextPageToken,files(id,name,mimeType,size,modifiedTime,webViewLink,parents)', pageSize: '25' }).toString()}`,
      response: { files: [{ id: 'f' }], kind: 'drive#fileList' },
      output: { files: [{ id: 'f' }] },
    },
    list_folder: {
      input: { folder_id: 'root', page_size: 3 },
      request: `GET /drive/v3/files?${new URLSearchParams({ q: "'root' in parents and trashed = false", fields: 'nextPageToken,files(id,name,mimeType,size,modifiedTime,webViewLink,parents)', pageSize: '3', orderBy: 'folder,name' }).toString()}`,
      response: { files: [] },
    },
    get_file: {
      input: { file_id: 'file-123456' },
      request: `GET /drive/v3/files/file-123456?${new URLSearchParams({ fields: 'id,name,mimeType,size,modifiedTime,webViewLink,parents,owners(emailAddress)' }).toString()}`,
      response: { id: 'file-123456', name: 'n' },
    },
    read_document: {
      input: { file_id: 'file-123456', format: 'text/plain' },
      request: 'GET /drive/v3/files/file-123456/export?mimeType=text%2Fplain',
      response: 'Some text',
      output: { text: 'Some text', truncated: false },
    },
    read_text_file: {
      input: { file_id: 'file-123456' },
      request: 'GET /drive/v3/files/file-123456?alt=media',
      response: 'a,b',
      output: { text: 'a,b', truncated: false },
    },
    create_folder: {
      input: { name: 'New' },
      request: `POST /drive/v3/files?${new URLSearchParams({ fields: 'id,name,mimeType,size,modifiedTime,webViewLink,parents' }).toString()}`,
      body: { name: 'New', mimeType: 'application/vnd.google-apps.folder', parents: [] },
      response: { id: 'x' },
    },
  },
  gmail: {
    search_messages: {
      input: { q: 'from:ann' },
      request: 'GET /gmail/v1/users/me/messages?q=from%3Aann',
      response: { messages: [{ id: 'm1', threadId: 't1' }], resultSizeEstimate: 1 },
    },
    get_message: {
      input: { message_id: 'm1234' },
      request: 'GET /gmail/v1/users/me/messages/m1234?format=full',
      response: gmailMessage,
      output: {
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
      request: 'GET /gmail/v1/users/me/labels',
      response: { labels: [{ id: 'L', name: 'n', type: 'user', color: {} }] },
      output: { labels: [{ id: 'L', name: 'n', type: 'user' }] },
    },
    create_draft: {
      input: { to: 'bob@example.com', text: 'Hi' },
      request: 'POST /gmail/v1/users/me/drafts',
      body: { message: { raw: mail(['To: bob@example.com', 'Subject: '], 'Hi') } },
      response: { id: 'd', message: { id: 'm', threadId: 't' } },
      output: { id: 'd', message: { id: 'm' } },
    },
    send_message: {
      input: { to: 'bob@example.com', cc: 'c@example.com', subject: 'Grüße', text: 'Hallo' },
      request: 'POST /gmail/v1/users/me/messages/send',
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
      response: { id: 'm', threadId: 't', labelIds: [] },
      output: { id: 'm', threadId: 't' },
    },
  },
  discord: {
    list_servers: {
      input: {},
      request: 'GET /api/v10/users/@me/guilds',
      response: [{ id: guild, name: 'G', icon: null }],
      output: [{ id: guild, name: 'G' }],
    },
    list_channels: {
      input: { server_id: guild },
      request: `GET /api/v10/guilds/${guild}/channels`,
      response: [{ id: guild, name: 'c', type: 0, nsfw: false }],
      output: [{ id: guild, name: 'c', type: 0 }],
    },
    read_messages: {
      input: { channel_id: guild, limit: 10 },
      request: `GET /api/v10/channels/${guild}/messages?limit=10`,
      response: [{ id: guild, content: 'hi', author: { id: '1', username: 'a', avatar: null }, embeds: [] }],
      output: [{ id: guild, content: 'hi', author: { id: '1', username: 'a' } }],
    },
    send_message: {
      input: { channel_id: guild, content: '@everyone hi' },
      request: `POST /api/v10/channels/${guild}/messages`,
      body: { content: '@everyone hi', allowed_mentions: { parse: [] } },
      response: { id: guild, channel_id: guild, author: {} },
      output: { id: guild, channel_id: guild },
    },
  },
  stripe: {
    list_customers: {
      input: { email: 'ann@example.com', limit: 2 },
      request: 'GET /v1/customers?email=ann%40example.com&limit=2',
      response: { data: [{ id: 'cus_1', name: 'Ann', metadata: {} }], has_more: false, object: 'list' },
      output: { data: [{ id: 'cus_1', name: 'Ann' }], has_more: false },
    },
    list_payments: {
      input: { customer: 'cus_1' },
      request: 'GET /v1/payment_intents?customer=cus_1',
      response: { data: [{ id: 'pi_1', amount: 5, client_secret: 'x' }], has_more: false },
      output: { data: [{ id: 'pi_1', amount: 5 }], has_more: false },
    },
    list_invoices: {
      input: { status: 'open' },
      request: 'GET /v1/invoices?status=open',
      response: { data: [], has_more: false },
    },
    list_subscriptions: {
      input: {},
      request: 'GET /v1/subscriptions',
      response: {
        data: [{ id: 'sub_1', items: { data: [{ id: 'x', price: { id: 'p', unit_amount: 5, type: 'y' } }] } }],
      },
      output: { data: [{ id: 'sub_1', items: { data: [{ price: { id: 'p', unit_amount: 5 } }] } }] },
    },
    get_balance: {
      input: {},
      request: 'GET /v1/balance',
      response: { available: [{ amount: 5, currency: 'usd', source_types: {} }], livemode: false },
      output: { available: [{ amount: 5, currency: 'usd' }] },
    },
    create_customer: {
      input: { email: 'ann@example.com', name: 'Ann & Co' },
      request: 'POST /v1/customers',
      form: { email: 'ann@example.com', name: 'Ann & Co' },
      response: { id: 'cus_2', email: 'ann@example.com', object: 'customer' },
      output: { id: 'cus_2', email: 'ann@example.com' },
    },
  },
  telegram: {
    send_message: {
      input: { chat_id: 5, text: 'Hi', reply_to: 7 },
      request: 'POST /bot123:planted-key/sendMessage',
      body: { chat_id: 5, text: 'Hi', reply_parameters: { message_id: 7 } },
      response: { ok: true, result: { message_id: 8, date: 1, chat: {} } },
      output: { result: { message_id: 8, date: 1 } },
    },
    send_photo: {
      input: { chat_id: '@channel', photo: 'https://example.com/a.png' },
      request: 'POST /bot123:planted-key/sendPhoto',
      body: { chat_id: '@channel', photo: 'https://example.com/a.png' },
      response: { ok: true, result: { message_id: 9, date: 1, photo: [] } },
      output: { result: { message_id: 9, date: 1 } },
    },
    edit_message: {
      input: { chat_id: 5, message_id: 8, text: 'Ho' },
      request: 'POST /bot123:planted-key/editMessageText',
      body: { chat_id: 5, message_id: 8, text: 'Ho' },
      response: { ok: true, result: { message_id: 8, edit_date: 2, text: 'Ho' } },
      output: { result: { message_id: 8, edit_date: 2 } },
    },
    get_chat: {
      input: { chat_id: 5 },
      request: 'POST /bot123:planted-key/getChat',
      body: { chat_id: 5 },
      response: { ok: true, result: { id: 5, type: 'private', first_name: 'Ann', accent_color_id: 1 } },
      output: { result: { id: 5, type: 'private', first_name: 'Ann' } },
    },
    list_administrators: {
      input: { chat_id: 5 },
      request: 'POST /bot123:planted-key/getChatAdministrators',
      body: { chat_id: 5 },
      response: { ok: true, result: [{ status: 'creator', user: { id: 1, is_bot: false } }] },
      output: { result: [{ status: 'creator', user: { id: 1 } }] },
    },
  },
  twilio: {
    send_message: {
      input: { from: '+14155550100', to: '+14155550101', body: 'Hi & bye' },
      request: 'POST /2010-04-01/Accounts/AC123/Messages.json',
      form: { From: '+14155550100', To: '+14155550101', Body: 'Hi & bye' },
      response: { sid: sms, status: 'queued', uri: 'x' },
      output: { sid: sms, status: 'queued' },
    },
    list_messages: {
      input: { to: '+14155550101' },
      request: 'GET /2010-04-01/Accounts/AC123/Messages.json?To=%2B14155550101',
      response: { messages: [{ sid: sms, body: 'Hi', uri: 'x' }], page: 0 },
      output: { messages: [{ sid: sms, body: 'Hi' }] },
    },
    get_message: {
      input: { sid: sms },
      request: `GET /2010-04-01/Accounts/AC123/Messages/${sms}.json`,
      response: { sid: sms, status: 'delivered', price: '1' },
      output: { sid: sms, status: 'delivered' },
    },
    list_numbers: {
      input: {},
      request: 'GET /2010-04-01/Accounts/AC123/IncomingPhoneNumbers.json',
      response: { incoming_phone_numbers: [{ sid: 'PN1', phone_number: '+1', voice_url: '' }] },
      output: { incoming_phone_numbers: [{ sid: 'PN1', phone_number: '+1' }] },
    },
  },
  airtable: {
    list_bases: {
      input: {},
      request: 'GET /v0/meta/bases',
      response: { bases: [{ id: base, name: 'B', permissionLevel: 'create' }] },
    },
    list_tables: {
      input: { base },
      request: `GET /v0/meta/bases/${base}/tables`,
      response: {
        tables: [{ id: 'tbl', name: 'T', primaryFieldId: 'x', fields: [{ id: 'f', name: 'F', type: 'text' }] }],
      },
      output: { tables: [{ id: 'tbl', name: 'T', fields: [{ name: 'F', type: 'text' }] }] },
    },
    list_records: {
      input: { base, table: 'My / Table?', filter: "{Status} = 'Open'" },
      request: `GET /v0/${base}/My%20%2F%20Table%3F?filterByFormula=%7BStatus%7D+%3D+%27Open%27`,
      response: { records: [] },
    },
    get_record: {
      input: { base, table: 'T', record },
      request: `GET /v0/${base}/T/${record}`,
      response: { id: record, fields: {} },
    },
    create_record: {
      input: { base, table: 'T', fields: { Name: 'Ann' } },
      request: `POST /v0/${base}/T`,
      body: { fields: { Name: 'Ann' } },
      response: { id: record, fields: { Name: 'Ann' } },
    },
    update_record: {
      input: { base, table: 'T', record, fields: { Name: 'Bob' } },
      request: `PATCH /v0/${base}/T/${record}`,
      body: { fields: { Name: 'Bob' } },
      response: { id: record, fields: { Name: 'Bob' } },
    },
  },
  hubspot: {
    search_contacts: {
      input: { query: 'ann', limit: 2 },
      request: 'POST /crm/v3/objects/contacts/search',
      body: {
        query: 'ann',
        limit: 2,
        properties: ['email', 'firstname', 'lastname', 'company', 'phone', 'lifecyclestage'],
      },
      response: { total: 1, results: [{ id: '1', properties: { email: 'a' }, archived: false }] },
      output: { total: 1, results: [{ id: '1', properties: { email: 'a' } }] },
    },
    search_companies: {
      input: {},
      request: 'POST /crm/v3/objects/companies/search',
      body: { properties: ['name', 'domain', 'industry', 'city', 'country'] },
      response: { total: 0, results: [] },
    },
    search_deals: {
      input: { after: '10' },
      request: 'POST /crm/v3/objects/deals/search',
      body: { after: '10', properties: ['dealname', 'amount', 'dealstage', 'pipeline', 'closedate'] },
      response: { total: 0, results: [] },
    },
    get_contact: {
      input: { contact_id: '7' },
      request:
        'GET /crm/v3/objects/contacts/7?properties=email%2Cfirstname%2Clastname%2Ccompany%2Cphone%2Clifecyclestage',
      response: { id: '7', properties: {}, archived: false },
      output: { id: '7', properties: {} },
    },
    create_contact: {
      input: { email: 'ann@example.com', firstname: 'Ann' },
      request: 'POST /crm/v3/objects/contacts',
      body: { properties: { email: 'ann@example.com', firstname: 'Ann' } },
      response: { id: '8', properties: {}, createdAt: 'x' },
      output: { id: '8', properties: {} },
    },
  },
  http: {
    get: {
      input: { path: '/users/42', query: { active: true, q: 'a b' } },
      request: 'GET /v1/users/42?active=true&q=a+b',
      response: { id: 42 },
    },
    post: {
      input: { path: 'users/', body: { a: 1 } },
      request: 'POST /v1/users/',
      body: { a: 1 },
      response: { id: 1 },
    },
    put: {
      input: { path: '/users/1', body: { a: 2 } },
      request: 'PUT /v1/users/1',
      body: { a: 2 },
      response: { id: 1 },
    },
    patch: { input: { path: '/users/1', body: [1] }, request: 'PATCH /v1/users/1', body: [1], response: { id: 1 } },
    delete: { input: { path: '/users/1' }, request: 'DELETE /v1/users/1', response: '' },
  },
}
