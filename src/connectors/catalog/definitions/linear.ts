import type { Connector, ConnectorTool, JsonSchema, Template } from '../definition.ts'

const issue = 'id identifier title url priorityLabel state { name } assignee { name } team { key } updatedAt'

/** A tool that is one GraphQL document, its variables the arguments. */
const tool = (
  name: string,
  description: string,
  isReadOnly: boolean,
  query: string,
  input: Record<string, JsonSchema>,
  required: string[],
): ConnectorTool => {
  const variables: Template = Object.fromEntries(Object.keys(input).map((key) => [key, `{${key}}`]))
  return {
    name,
    description,
    input,
    required,
    isReadOnly,
    request: { method: 'POST', path: '/graphql', json: { query, variables } },
    answer: ['data'],
  }
}

const first = { type: 'integer', minimum: 1, maximum: 100, description: 'How many at most' }
const id = { type: 'string', description: 'Id or identifier of the issue, such as ENG-123' }
const priority = { type: 'integer', minimum: 0, maximum: 4, description: '0 none, 1 urgent, 2 high, 3 normal, 4 low' }

export const connector: Connector = {
  slug: 'linear',
  name: 'Linear',
  description: 'Issues, comments and teams of a Linear workspace.',
  auth: {
    type: 'oauth',
    authorizeUrl: 'https://linear.app/oauth/authorize',
    tokenUrl: 'https://api.linear.app/oauth/token',
    scopes: ['read', 'write'],
    scopeSeparator: ',',
    authorizeParams: { prompt: 'consent' },
    account: {
      // Events name the organisation, so that is the account.
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
    rejections: ['AUTHENTICATION_ERROR'],
  },
  receiver: 'linear',
  tools: [
    tool(
      'search_issues',
      'Searches issues by words in their title, description and comments.',
      true,
      `query($term: String!, $first: Int) { searchIssues(term: $term, first: $first) { totalCount nodes { ${issue} } } }`,
      { term: { type: 'string', minLength: 1 }, first },
      ['term'],
    ),
    tool(
      'get_issue',
      'Reads one issue with its description and comments.',
      true,
      `query($id: String!) { issue(id: $id) { ${issue} description comments(first: 50) { nodes { body createdAt user { name } } } } }`,
      { id },
      ['id'],
    ),
    tool(
      'list_teams',
      'Lists the teams with their ids and the states that their issues can be in.',
      true,
      'query($first: Int) { teams(first: $first) { nodes { id key name states { nodes { id name type } } } } }',
      { first },
      [],
    ),
    tool(
      'create_issue',
      'Opens an issue in a team.',
      false,
      `mutation($teamId: String!, $title: String!, $description: String, $priority: Int, $assigneeId: String) { issueCreate(input: { teamId: $teamId, title: $title, description: $description, priority: $priority, assigneeId: $assigneeId }) { success issue { ${issue} } } }`,
      {
        teamId: { type: 'string', description: 'Id of the team, from list_teams' },
        title: { type: 'string', minLength: 1 },
        description: { type: 'string', description: 'Markdown' },
        priority,
        assigneeId: { type: 'string' },
      },
      ['teamId', 'title'],
    ),
    tool(
      'update_issue',
      'Changes the title, description, priority or state of an issue. What is left out stays.',
      false,
      `mutation($id: String!, $title: String, $description: String, $priority: Int, $stateId: String) { issueUpdate(id: $id, input: { title: $title, description: $description, priority: $priority, stateId: $stateId }) { success issue { ${issue} } } }`,
      {
        id,
        title: { type: 'string', minLength: 1 },
        description: { type: 'string', description: 'Markdown' },
        priority,
        stateId: { type: 'string', description: 'Id of a state of its team, from list_teams' },
      },
      ['id'],
    ),
    tool(
      'add_comment',
      'Writes a comment under an issue.',
      false,
      'mutation($issueId: String!, $body: String!) { commentCreate(input: { issueId: $issueId, body: $body }) { success comment { id url } } }',
      { issueId: id, body: { type: 'string', minLength: 1, description: 'Markdown' } },
      ['issueId', 'body'],
    ),
  ],
}
