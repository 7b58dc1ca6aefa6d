import type { Connector, ConnectorTool, JsonSchema, Template } from '../definition.ts'

const issue = 'id identifier title url priorityLabel state { name } assignee { name } team { key } updatedAt'

interface GraphQLTool extends Omit<ConnectorTool, 'request' | 'output'> {
  input: Record<string, JsonSchema>
  /** The document. Its variables are the arguments. */
  query: string
}

const graphqlTool = ({ query, ...tool }: GraphQLTool): ConnectorTool => {
  const variables: Template = Object.fromEntries(Object.keys(tool.input).map((key) => [key, `{${key}}`]))
  return { ...tool, request: { method: 'POST', path: '/graphql', json: { query, variables } }, output: ['data'] }
}

const first = { type: 'integer', minimum: 1, maximum: 100, description: 'Maximum number of results' }
const id = { type: 'string', description: 'ID or identifier of the issue, for example ENG-123' }
const priority = { type: 'integer', minimum: 0, maximum: 4, description: '0 none, 1 urgent, 2 high, 3 normal, 4 low' }

export const connector: Connector = {
  slug: 'linear',
  name: 'Linear',
  category: 'development',
  description: 'Issues, comments and teams of a Linear workspace.',
  auth: {
    type: 'oauth',
    registrationUrl: 'https://linear.app/settings/api',
    authorizeUrl: 'https://linear.app/oauth/authorize',
    tokenUrl: 'https://api.linear.app/oauth/token',
    scopes: ['read', 'write'],
    scopeSeparator: ',',
    authorizeParams: { prompt: 'consent' },
    account: {
      // Webhook events contain the organization ID, so the organization is the account.
      from: { method: 'POST', path: '/graphql', json: { query: 'query { viewer { id organization { id name } } }' } },
      id: 'data.viewer.organization.id',
      name: 'data.viewer.organization.name',
    },
    revoke: { method: 'POST', url: 'https://api.linear.app/oauth/revoke', auth: 'bearer' },
  },
  api: {
    baseUrl: 'https://api.linear.app',
    failure: { path: 'errors', is: 'present' },
    errorMessage: ['errors.0.extensions.userPresentableMessage', 'errors.0.message', 'errors.0.extensions.code'],
    credentialErrors: ['AUTHENTICATION_ERROR'],
  },
  tools: [
    graphqlTool({
      name: 'search_issues',
      description: 'Searches issues by words in their title, description and comments.',
      query: `query($term: String!, $first: Int) { searchIssues(term: $term, first: $first) { totalCount nodes { ${issue} } } }`,
      input: { term: { type: 'string', minLength: 1 }, first },
      required: ['term'],
      isReadOnly: true,
    }),
    graphqlTool({
      name: 'get_issue',
      description: 'Reads one issue with its description and comments.',
      query: `query($id: String!) { issue(id: $id) { ${issue} description comments(first: 50) { nodes { body createdAt user { name } } } } }`,
      input: { id },
      required: ['id'],
      isReadOnly: true,
    }),
    graphqlTool({
      name: 'list_teams',
      description: 'Lists the teams with their IDs and workflow states.',
      query: 'query($first: Int) { teams(first: $first) { nodes { id key name states { nodes { id name type } } } } }',
      input: { first },
      isReadOnly: true,
    }),
    graphqlTool({
      name: 'create_issue',
      description: 'Creates an issue in a team.',
      query: `mutation($teamId: String!, $title: String!, $description: String, $priority: Int, $assigneeId: String) { issueCreate(input: { teamId: $teamId, title: $title, description: $description, priority: $priority, assigneeId: $assigneeId }) { success issue { ${issue} } } }`,
      input: {
        teamId: { type: 'string', description: 'ID of the team, from list_teams' },
        title: { type: 'string', minLength: 1 },
        description: { type: 'string', description: 'Markdown' },
        priority,
        assigneeId: { type: 'string' },
      },
      required: ['teamId', 'title'],
      isReadOnly: false,
    }),
    graphqlTool({
      name: 'update_issue',
      description: 'Updates the title, description, priority or state of an issue. Omitted fields stay unchanged.',
      query: `mutation($id: String!, $title: String, $description: String, $priority: Int, $stateId: String) { issueUpdate(id: $id, input: { title: $title, description: $description, priority: $priority, stateId: $stateId }) { success issue { ${issue} } } }`,
      input: {
        id,
        title: { type: 'string', minLength: 1 },
        description: { type: 'string', description: 'Markdown' },
        priority,
        stateId: { type: 'string', description: 'ID of a state of the team, from list_teams' },
      },
      required: ['id'],
      isReadOnly: false,
    }),
    graphqlTool({
      name: 'add_comment',
      description: 'Adds a comment to an issue.',
      query:
        'mutation($issueId: String!, $body: String!) { commentCreate(input: { issueId: $issueId, body: $body }) { success comment { id url } } }',
      input: { issueId: id, body: { type: 'string', minLength: 1, description: 'Markdown' } },
      required: ['issueId', 'body'],
      isReadOnly: false,
    }),
  ],
}
