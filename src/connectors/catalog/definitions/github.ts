import type { Connector } from '../definition.ts'

const owner = { type: 'string', description: 'Owner of the repository: a user or an organization' }
const repo = { type: 'string', description: 'Name of the repository' }
const number = { type: 'integer', minimum: 1, description: 'Number of the issue or pull request' }
const page = { type: 'integer', minimum: 1, description: 'Page of the list, from 1' }
const perPage = { type: 'integer', minimum: 1, maximum: 100, description: 'Items per page (default 30)' }
const state = { type: 'string', enum: ['open', 'closed', 'all'], description: 'Default: open' }

const issue = ['number', 'title', 'state', 'html_url', 'user.login', 'labels.name', 'assignees.login', 'comments']

export const connector: Connector = {
  slug: 'github',
  name: 'GitHub',
  category: 'development',
  description: 'Issues, pull requests, code and files of repositories.',
  auth: {
    type: 'oauth',
    registrationUrl: 'https://github.com/settings/developers',
    authorizeUrl: 'https://github.com/login/oauth/authorize',
    tokenUrl: 'https://github.com/login/oauth/access_token',
    scopes: ['repo', 'read:user', 'admin:repo_hook'],
    account: { from: { method: 'GET', path: '/user' }, id: 'id', name: 'login' },
    revoke: {
      method: 'DELETE',
      url: 'https://api.github.com/applications/{clientId}/grant',
      auth: 'client',
      json: { access_token: '{accessToken}' },
    },
  },
  api: {
    baseUrl: 'https://api.github.com',
    headers: { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' },
    errorMessage: ['message'],
  },
  tools: [
    {
      name: 'list_repositories',
      description: 'Lists the repositories that the user can access, most recently updated first.',
      input: { per_page: perPage, page },
      isReadOnly: true,
      request: {
        method: 'GET',
        path: '/user/repos',
        query: { sort: 'updated', per_page: '{per_page}', page: '{page}' },
      },
      output: ['full_name', 'description', 'private', 'default_branch', 'html_url', 'updated_at'],
    },
    {
      name: 'search_issues',
      description:
        "Searches issues and pull requests in all repositories with GitHub's search syntax, such as `repo:owner/name is:open label:bug crash`.",
      input: { q: { type: 'string', minLength: 1, maxLength: 256 }, per_page: perPage, page },
      required: ['q'],
      isReadOnly: true,
      request: { method: 'GET', path: '/search/issues', query: { q: '{q}', per_page: '{per_page}', page: '{page}' } },
      output: ['total_count', ...issue.map((path) => `items.${path}`)],
    },
    {
      name: 'list_issues',
      description: 'Lists issues and pull requests of a repository.',
      input: {
        owner,
        repo,
        state,
        labels: { type: 'string', description: 'Comma-separated' },
        per_page: perPage,
        page,
      },
      required: ['owner', 'repo'],
      isReadOnly: true,
      request: {
        method: 'GET',
        path: '/repos/{owner}/{repo}/issues',
        query: { state: '{state}', labels: '{labels}', per_page: '{per_page}', page: '{page}' },
      },
      output: issue,
    },
    {
      name: 'get_issue',
      description: 'Reads one issue or pull request with its text.',
      input: { owner, repo, number },
      required: ['owner', 'repo', 'number'],
      isReadOnly: true,
      request: { method: 'GET', path: '/repos/{owner}/{repo}/issues/{number}' },
      output: [...issue, 'body', 'created_at', 'closed_at', 'milestone.title', 'pull_request.url'],
    },
    {
      name: 'create_issue',
      description: 'Creates an issue in a repository.',
      input: {
        owner,
        repo,
        title: { type: 'string', minLength: 1, maxLength: 256 },
        body: { type: 'string', description: 'Markdown' },
        labels: { type: 'array', items: { type: 'string' } },
        assignees: { type: 'array', items: { type: 'string' } },
      },
      required: ['owner', 'repo', 'title'],
      isReadOnly: false,
      request: {
        method: 'POST',
        path: '/repos/{owner}/{repo}/issues',
        json: { title: '{title}', body: '{body}', labels: '{labels}', assignees: '{assignees}' },
      },
      output: ['number', 'html_url'],
    },
    {
      name: 'add_comment',
      description: 'Adds a comment to an issue or a pull request.',
      input: { owner, repo, number, body: { type: 'string', minLength: 1, description: 'Markdown' } },
      required: ['owner', 'repo', 'number', 'body'],
      isReadOnly: false,
      request: {
        method: 'POST',
        path: '/repos/{owner}/{repo}/issues/{number}/comments',
        json: { body: '{body}' },
      },
      output: ['id', 'html_url'],
    },
    {
      name: 'list_pull_requests',
      description: 'Lists pull requests of a repository.',
      input: { owner, repo, state, per_page: perPage, page },
      required: ['owner', 'repo'],
      isReadOnly: true,
      request: {
        method: 'GET',
        path: '/repos/{owner}/{repo}/pulls',
        query: { state: '{state}', per_page: '{per_page}', page: '{page}' },
      },
      output: ['number', 'title', 'state', 'draft', 'html_url', 'user.login', 'head.ref', 'base.ref', 'updated_at'],
    },
    {
      name: 'read_file',
      description: 'Reads a text file of a repository.',
      input: {
        owner,
        repo,
        path: { type: 'string', minLength: 1, description: 'For example src/main.ts' },
        ref: { type: 'string', description: 'Branch, tag or commit; default: the default branch' },
      },
      required: ['owner', 'repo', 'path'],
      isReadOnly: true,
      request: {
        method: 'GET',
        path: '/repos/{owner}/{repo}/contents/{path*}',
        query: { ref: '{ref}' },
        headers: { accept: 'application/vnd.github.raw+json' },
      },
    },
  ],
}
