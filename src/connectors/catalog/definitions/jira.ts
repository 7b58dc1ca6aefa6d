import type { Connector, ConnectorTool } from '../definition.ts'

const issueKey = {
  type: 'string',
  pattern: '^[A-Za-z][A-Za-z0-9_]*-[0-9]+$|^[0-9]+$',
  description: 'For example ABC-123',
}
const text = { type: 'string', minLength: 1, description: 'Plain text; separate paragraphs with an empty line' }

/** Jira requires the Atlassian Document Format instead of plain text. */
const documentOf = (plain: unknown): unknown => ({
  type: 'doc',
  version: 1,
  content: String(plain)
    .split(/\n{2,}/)
    .filter((paragraph) => paragraph.trim() !== '')
    .map((paragraph) => ({ type: 'paragraph', content: [{ type: 'text', text: paragraph }] })),
})

const summary = ['key', 'fields.summary', 'fields.status.name', 'fields.assignee.displayName', 'fields.updated']

const writing: ConnectorTool[] = [
  {
    name: 'create_issue',
    description: 'Creates an issue in a project.',
    input: {
      projectKey: { type: 'string', description: 'For example ABC' },
      issueType: { type: 'string', description: 'For example Task, Bug or Story' },
      summary: { type: 'string', minLength: 1, maxLength: 255 },
      description: text,
    },
    required: ['projectKey', 'issueType', 'summary'],
    isReadOnly: false,
    request: (input) => ({
      method: 'POST',
      segments: ['rest', 'api', '3', 'issue'],
      json: {
        fields: {
          project: { key: input['projectKey'] },
          issuetype: { name: input['issueType'] },
          summary: input['summary'],
          ...(input['description'] === undefined ? {} : { description: documentOf(input['description']) }),
        },
      },
    }),
    output: ['id', 'key'],
  },
  {
    name: 'add_comment',
    description: 'Adds a comment to an issue.',
    input: { issue: issueKey, body: text },
    required: ['issue', 'body'],
    isReadOnly: false,
    request: (input) => ({
      method: 'POST',
      segments: ['rest', 'api', '3', 'issue', String(input['issue']), 'comment'],
      json: { body: documentOf(input['body']) },
    }),
    output: ['id', 'created'],
  },
  {
    name: 'move_issue',
    description: 'Moves an issue through its workflow by a transition from list_transitions.',
    input: { issue: issueKey, transitionId: { type: 'string', pattern: '^[0-9]+$' } },
    required: ['issue', 'transitionId'],
    isReadOnly: false,
    request: {
      method: 'POST',
      path: '/rest/api/3/issue/{issue}/transitions',
      json: { transition: { id: '{transitionId}' } },
    },
  },
]

export const connector: Connector = {
  slug: 'jira',
  name: 'Jira',
  category: 'development',
  description: 'Issues and projects of a Jira Cloud site.',
  auth: {
    type: 'oauth',
    registrationUrl: 'https://developer.atlassian.com/console/myapps',
    authorizeUrl: 'https://auth.atlassian.com/authorize',
    tokenUrl: 'https://auth.atlassian.com/oauth/token',
    scopes: ['read:jira-work', 'write:jira-work', 'read:jira-user', 'offline_access'],
    authorizeParams: { audience: 'api.atlassian.com', prompt: 'consent' },
    tokenBody: 'json',
    account: {
      from: { method: 'GET', path: '/oauth/token/accessible-resources', outsidePrefix: true },
      id: '0.id',
      name: '0.name',
    },
  },
  api: {
    baseUrl: 'https://api.atlassian.com',
    pathPrefix: '/ex/jira/{accountId}',
    errorMessage: ['errorMessages.0', 'message'],
  },
  tools: [
    {
      name: 'search_issues',
      description: 'Searches issues with JQL, such as `project = ABC AND status = "To Do" ORDER BY updated DESC`.',
      input: {
        jql: { type: 'string', minLength: 1 },
        maxResults: { type: 'integer', minimum: 1, maximum: 100 },
        nextPageToken: { type: 'string', description: 'Of the page before' },
      },
      required: ['jql'],
      isReadOnly: true,
      request: {
        method: 'POST',
        path: '/rest/api/3/search/jql',
        json: {
          jql: '{jql}',
          maxResults: '{maxResults}',
          nextPageToken: '{nextPageToken}',
          fields: ['summary', 'status', 'assignee', 'updated'],
        },
      },
      output: [...summary.map((path) => `issues.${path}`), 'nextPageToken', 'isLast'],
    },
    {
      name: 'get_issue',
      description: 'Reads one issue with its description and comments.',
      input: { issue: issueKey },
      required: ['issue'],
      isReadOnly: true,
      request: {
        method: 'GET',
        path: '/rest/api/3/issue/{issue}',
        query: { fields: 'summary,status,assignee,reporter,priority,labels,description,comment,updated' },
      },
      output: [
        ...summary,
        'fields.reporter.displayName',
        'fields.priority.name',
        'fields.labels',
        'fields.description',
        'fields.comment.comments.author.displayName',
        'fields.comment.comments.body',
      ],
    },
    {
      name: 'list_projects',
      description: 'Lists the projects of the site with their keys.',
      input: { query: { type: 'string', description: 'Part of the name or key' } },
      isReadOnly: true,
      request: { method: 'GET', path: '/rest/api/3/project/search', query: { query: '{query}', maxResults: 50 } },
      output: ['values.key', 'values.name', 'values.projectTypeKey', 'total'],
    },
    {
      name: 'list_transitions',
      description: 'Lists the workflow transitions that are available for an issue.',
      input: { issue: issueKey },
      required: ['issue'],
      isReadOnly: true,
      request: { method: 'GET', path: '/rest/api/3/issue/{issue}/transitions' },
      output: ['transitions.id', 'transitions.name', 'transitions.to.name'],
    },
    ...writing,
  ],
}
